package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeyLayout;
import java.io.IOException;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/** Merges several sorted runs. Of several records with the same key, the youngest run's counts. */
final class MergedRecords implements SortedRecords {
  private record Run(SortedRecords records, int age) implements Comparable<Run> {
    @Override
    public int compareTo(Run other) {
      int byKey = compareKeys(other);
      return byKey != 0 ? byKey : Integer.compare(other.age, age);
    }

    int compareKeys(Run other) {
      return KeyLayout.compare(
          records.keyBytes(),
          records.keyStart(),
          records.keyLength(),
          other.records.keyBytes(),
          other.records.keyStart(),
          other.records.keyLength());
    }
  }

  private final List<SortedRecords> runs;
  private final boolean showDeleted;
  private final PriorityQueue<Run> waiting = new PriorityQueue<>();
  private @Nullable Run current;

  /**
   * @param runs the oldest first
   * @param showDeleted whether a key is shown if its youngest record is a deletion
   */
  MergedRecords(List<SortedRecords> runs, boolean showDeleted) throws IOException {
    this.runs = runs;
    this.showDeleted = showDeleted;
    for (int age = 0; age < runs.size(); age++) {
      enter(new Run(runs.get(age), age));
    }
  }

  private void enter(Run run) throws IOException {
    if (run.records.next()) {
      waiting.add(run);
    }
  }

  @Override
  public boolean next() throws IOException {
    do {
      if (current != null) {
        enter(current);
      }
      current = waiting.poll();
      if (current == null) {
        return false;
      }
      dropOlder(current);
    } while (!showDeleted && valueLength() == DELETED);
    return true;
  }

  private void dropOlder(Run youngest) throws IOException {
    for (Run older = waiting.peek();
        older != null && older.compareKeys(youngest) == 0;
        older = waiting.peek()) {
      waiting.poll();
      enter(older);
    }
  }

  private SortedRecords record() {
    if (current == null) {
      throw new IllegalStateException("there is no record: next was not called or is false");
    }
    return current.records;
  }

  @Override
  public byte[] keyBytes() {
    return record().keyBytes();
  }

  @Override
  public int keyStart() {
    return record().keyStart();
  }

  @Override
  public int keyLength() {
    return record().keyLength();
  }

  @Override
  public byte[] valueBytes() {
    return record().valueBytes();
  }

  @Override
  public int valueStart() {
    return record().valueStart();
  }

  @Override
  public int valueLength() {
    return record().valueLength();
  }

  @Override
  public void close() {
    runs.forEach(IOUtils::closeQuietly);
  }
}
