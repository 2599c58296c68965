package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Sorts records by key with bounded heap: what does not fit the buffer is written to sorted files,
 * and files are merged as soon as there are many of them. Of several records with one key the last
 * that was added counts. Few records need no file. For one thread.
 */
public final class RecordSorter implements Closeable {
  private static final int MOST_FILES_OF_A_LEVEL = 32;

  private final Path directory;
  private final String name = "sort-" + UUID.randomUUID() + "-";
  private final Cancellation cancellation;
  private final SortBuffer buffer;
  private final List<SortFile> files = new ArrayList<>();
  private int filesWritten;

  /**
   * Makes a sorter.
   *
   * @param directory where files are put; it must exist
   * @param bufferBytes heap to sort with
   */
  public RecordSorter(Path directory, int bufferBytes, Cancellation cancellation) {
    this.directory = directory;
    this.buffer = new SortBuffer(bufferBytes);
    this.cancellation = cancellation;
  }

  /** Adds a record; without a value, that its key has been deleted. */
  public void add(ByteSpan key, @Nullable ByteSpan value) throws IOException {
    cancellation.check();
    int valueLength = value == null ? SortedRecords.DELETED : value.length();
    while (!buffer.add(key, valueLength)) {
      spill();
    }
    if (value != null) {
      buffer.addValue(value);
    }
  }

  private void spill() throws IOException {
    buffer.sort();
    write(buffer.records(), 0);
    buffer.clear();
    mergeWhereMany();
  }

  private void write(SortedRecords records, int level) throws IOException {
    Path path = directory.resolve(name + filesWritten++);
    files.add(SortFile.write(path, records, level, cancellation));
  }

  /** Merges the youngest files when there are many that were merged equally often. */
  private void mergeWhereMany() throws IOException {
    int level = 0;
    while (countOfLevel(level) >= MOST_FILES_OF_A_LEVEL) {
      List<SortFile> merged =
          List.copyOf(files.subList(files.size() - MOST_FILES_OF_A_LEVEL, files.size()));
      files.removeAll(merged);
      try (SortedRecords records = merge(merged, true)) {
        write(records, ++level);
      } finally {
        merged.forEach(SortFile::delete);
      }
    }
  }

  private long countOfLevel(int level) {
    return files.stream().filter(file -> file.level() == level).count();
  }

  private static SortedRecords merge(List<SortFile> files, boolean showDeleted) throws IOException {
    List<SortedRecords> runs = new ArrayList<>();
    try {
      for (SortFile file : files) {
        runs.add(file.read());
      }
      return new MergedRecords(runs, showDeleted);
    } catch (Throwable failure) {
      runs.forEach(IOUtils::closeQuietly);
      throw failure;
    }
  }

  /** All records that are not deleted; nothing can be added any more. */
  public SortedRecords sorted() throws IOException {
    if (files.isEmpty()) {
      buffer.sort();
      return new MergedRecords(List.of(buffer.records()), false);
    }
    if (!buffer.isEmpty()) {
      spill();
    }
    return merge(files, false);
  }

  /** Deletes all files. */
  @Override
  public void close() {
    files.forEach(SortFile::delete);
    files.clear();
  }
}
