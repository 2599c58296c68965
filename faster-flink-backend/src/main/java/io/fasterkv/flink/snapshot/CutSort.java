package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import java.io.IOException;

/** Brings the records before a cut of the log into the order of their keys. */
final class CutSort {
  private static final ByteSpan NO_VALUE = new ByteSpan();

  /** Which records are wanted. */
  interface Choice {
    boolean wants(ByteSpan key);
  }

  private CutSort() {}

  /** The wanted records. The caller closes the sorter, also after a failure. */
  static void sort(LogCut cut, RecordSorter into, Choice choice, Cancellation cancellation)
      throws IOException {
    try (LogScan scan = cut.scan()) {
      while (scan.next()) {
        cancellation.check();
        ByteSpan key = scan.key();
        if (!choice.wants(key)) {
          continue;
        }
        if (scan.isTombstone()) {
          into.addDeleted(key);
        } else {
          into.add(key, scan.value());
        }
      }
    }
  }

  /** The wanted head records, without their values. The caller closes the sorter. */
  static void sortHeads(LogCut cut, RecordSorter into, Choice choice) throws IOException {
    try (LogScan scan = cut.scan()) {
      while (scan.next()) {
        ByteSpan key = scan.key();
        if (!isHead(key) || !choice.wants(key)) {
          continue;
        }
        if (scan.isTombstone()) {
          into.addDeleted(key);
        } else {
          into.add(key, NO_VALUE);
        }
      }
    }
  }

  private static boolean isHead(ByteSpan key) {
    return key.getInt(key.length() - KeyLayout.SUB_BYTES) == 0;
  }

  /** The state that a record belongs to. */
  static int state(ByteSpan key) {
    return (key.getByte(KeyLayout.STATE_AT) & 0xFF) << Byte.SIZE
        | key.getByte(KeyLayout.STATE_AT + 1) & 0xFF;
  }
}
