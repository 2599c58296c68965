package io.fasterkv.flink.records;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** Counts what has not been deleted, and belongs to something. */
final class LiveRecords {
  private LiveRecords() {}

  static int count(TestRecords test) {
    Map<ByteBuffer, byte[]> live = new HashMap<>();
    try (LogCut cut = test.store.cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        ByteBuffer key = ByteBuffer.wrap(scan.key().toArray());
        if (scan.isTombstone()) {
          live.remove(key);
        } else {
          live.put(key, scan.value().toArray());
        }
      }
    }
    return (int)
        live.entrySet().stream()
            .filter(record -> isOfValue(test, record.getKey().array(), record.getValue(), live))
            .count();
  }

  private static boolean isOfValue(
      TestRecords test, byte[] key, byte[] value, Map<ByteBuffer, byte[]> live) {
    boolean isBlock =
        test.identities.areTrees(KeyLayout.state(key, 0)) && TreeLayout.isBlock(ByteSpan.of(key));
    if (isBlock || KeyLayout.sub(key, 0, key.length) == 0) {
      return true;
    }
    byte[] headKey = key.clone();
    KeyLayout.putSub(headKey, headKey.length, 0);
    byte[] head = live.get(ByteBuffer.wrap(headKey));
    return head != null && PartLayout.ofHead(head, 0) == PartLayout.ofPart(value, 0);
  }
}
