package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Sorts records by key with bounded heap. What does not fit the buffer is written to sorted files,
 * and files are merged when there are many. Of several records with the same key, the last one
 * added counts. A small number of records needs no file. For one thread.
 */
public final class RecordSorter implements Closeable {
  private static final int MOST_FILES_OF_A_LEVEL = 32;

  private final Path directory;
  private final String name = "sort-" + UUID.randomUUID() + "-";
  private final Cancellation cancellation;
  private final Logger logger;
  private final SortBuffer buffer;
  private final List<SortFile> files = new ArrayList<>();
  private int filesWritten;

  /**
   * @param directory directory for sort files; must exist
   * @param bufferBytes heap to sort with
   * @param logger receives files that cannot be deleted
   */
  public RecordSorter(Path directory, int bufferBytes, Cancellation cancellation, Logger logger) {
    this.directory = directory;
    this.buffer = new SortBuffer(bufferBytes);
    this.cancellation = cancellation;
    this.logger = logger;
  }

  /** Adds a record; a null value says that the key has been deleted. */
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
    files.add(SortFile.write(path, records, level, cancellation, logger));
  }

  /** Merges the youngest files if many of them were merged equally often. */
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

  /** Returns all records that are not deleted; nothing can be added afterwards. */
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
