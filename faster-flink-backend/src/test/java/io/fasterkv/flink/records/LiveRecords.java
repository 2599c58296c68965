package io.fasterkv.flink.records;

import io.fasterkv.FasterStore;
import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;

/** Counts what has not been deleted. */
final class LiveRecords {
  private LiveRecords() {}

  static int count(FasterStore store) {
    Set<ByteBuffer> live = new HashSet<>();
    try (LogCut cut = store.cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        ByteBuffer key = ByteBuffer.wrap(scan.key().toArray());
        if (scan.isTombstone()) {
          live.remove(key);
        } else {
          live.add(key);
        }
      }
    }
    return live.size();
  }
}
