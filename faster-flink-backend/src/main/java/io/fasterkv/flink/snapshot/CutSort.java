package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.LongKeyLayout;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import org.apache.flink.util.function.ThrowingConsumer;

/** Sorts the records before a cut of the log by key. */
final class CutSort {
  private static final ByteSpan NO_VALUE = new ByteSpan();

  /** Chooses records. */
  interface Choice {
    boolean wants(ByteSpan key);
  }

  private CutSort() {}

  /** Sorts the chosen records. The caller closes the sorter, also after a failure. */
  static void sort(LocalStore local, LogCut cut, RecordSorter into, Choice choice)
      throws IOException {
    scan(
        local,
        cut,
        scan -> {
          if (choice.wants(scan.key())) {
            into.add(scan.key(), scan.isTombstone() ? null : scan.value());
          }
        });
  }

  /**
   * Sorts the chosen heads without their values, and the chosen key records. The caller closes the
   * sorter.
   */
  static void sortHeads(LocalStore local, LogCut cut, RecordSorter into, Choice choice)
      throws IOException {
    scan(
        local,
        cut,
        scan -> {
          boolean isOfKeyRecord = LongKeyLayout.isOfKeyRecord(scan.key());
          if ((isHead(scan.key()) || isOfKeyRecord) && choice.wants(scan.key())) {
            ByteSpan value = isOfKeyRecord ? scan.value() : NO_VALUE;
            into.add(scan.key(), scan.isTombstone() ? null : value);
          }
        });
  }

  /** Waits for its turn, then scans all records, oldest first. */
  private static void scan(
      LocalStore local, LogCut cut, ThrowingConsumer<LogScan, IOException> consumer)
      throws IOException {
    try {
      local.scanTurn().acquire();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for another scan of the log");
    }
    try (LogScan scan = cut.scan()) {
      while (scan.next()) {
        consumer.accept(scan);
      }
    } finally {
      local.scanTurn().release();
    }
  }

  private static boolean isHead(ByteSpan key) {
    return key.getInt(key.length() - KeyLayout.SUB_BYTES) == 0;
  }

  /** The state of a record. */
  static int state(ByteSpan key) {
    return (key.getByte(KeyLayout.STATE_AT) & 0xFF) << Byte.SIZE
        | key.getByte(KeyLayout.STATE_AT + 1) & 0xFF;
  }
}
