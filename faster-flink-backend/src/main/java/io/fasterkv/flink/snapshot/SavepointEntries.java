package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.records.base.Bytes;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.StateSnapshotTransformer;

/**
 * Converts sorted records to entries of Flink's savepoint format, in the same order: one entry for
 * a single value or a list, one for each entry of a map, one for each timer. For one thread.
 */
public final class SavepointEntries {
  private final SavepointValue of;
  private final SingleEntries singles;
  private final ListEntries lists;
  private final MapEntries maps;
  private final QueueEntries queues;

  /** Reads the current value. */
  private EntryReader reader;

  /** Whether the current record is a head that was not read yet. */
  private boolean isHeadWaiting;

  private boolean isAtEnd;
  private byte[] value = new byte[0];

  SavepointEntries(SortedRecords records, List<StateExport> exports, int keyGroupPrefixBytes) {
    // One less than an array's maximum, for a separator.
    this(records, exports, keyGroupPrefixBytes, Bytes.MOST_BYTES - 1);
  }

  /**
   * With another limit, for tests.
   *
   * @param mostBytes maximum length of an entry's value
   */
  SavepointEntries(
      SortedRecords records, List<StateExport> exports, int keyGroupPrefixBytes, int mostBytes) {
    of =
        new SavepointValue(
            new FullKeys(records), exports, new SavepointKey(keyGroupPrefixBytes), mostBytes);
    singles = new SingleEntries(of);
    lists = new ListEntries(of);
    maps = new MapEntries(of);
    queues = new QueueEntries(of);
    reader = singles;
  }

  /** The full record key that the entry belongs to, without the sub number. */
  public byte[] prefix() {
    return of.prefix();
  }

  int keyGroup() {
    return of.keyGroup();
  }

  int stateId() {
    return of.stateId();
  }

  /** A new array with the key; a map entry's user key starts at {@link #userKeyAt}. */
  public byte[] key() {
    return reader.key();
  }

  public int userKeyAt() {
    return of.key().length();
  }

  /** A new array with the value. */
  public byte[] value() {
    return value;
  }

  /** Moves to the next entry; returns false at the end. */
  public boolean next() throws IOException {
    while (true) {
      while (reader.next()) {
        if (passes()) {
          return true;
        }
      }
      if (isAtEnd) {
        return false;
      }
      readRecord();
    }
  }

  /** Reads a part, or ends the value before a head or the end, or starts the value of that head. */
  private void readRecord() throws IOException {
    if (isHeadWaiting) {
      isHeadWaiting = false;
      of.start();
      reader = readerOf(of.export());
      reader.read(0);
      return;
    }
    isAtEnd = !of.records().next();
    isHeadWaiting = !isAtEnd && of.sub() == 0;
    if (isAtEnd || isHeadWaiting) {
      reader.end();
    } else if (of.owns()) {
      reader.read(of.sub());
    }
  }

  private EntryReader readerOf(StateExport export) {
    return switch (export.shape()) {
      case SINGLE -> singles;
      case LIST -> lists;
      case MAP -> maps;
      case QUEUE -> queues;
    };
  }

  /** Applies the state's filter to the entry; returns false if it is dropped. */
  private boolean passes() {
    value = reader.value();
    StateSnapshotTransformer<byte[]> filter = of.export().filter();
    if (filter == null) {
      return true;
    }
    byte[] kept = filter.filterOrTransform(value);
    if (kept == null) {
      return false;
    }
    value = kept;
    return true;
  }
}
