package io.fasterkv.flink.records;

import io.fasterkv.LogCut;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.tree.TreeLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** Counts the records that are not deleted and belong to a value. */
public final class LiveRecords {
  private LiveRecords() {}

  public static int count(TestRecords test) {
    Map<ByteBuffer, byte[]> live = new HashMap<>();
    try (LogCut cut = test.store.log().cut();
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
        test.incarnations.areTrees(KeyLayout.state(key, 0)) && TreeLayout.isBlock(ByteSpan.of(key));
    if (isBlock || KeyLayout.sub(key, 0, key.length) == 0) {
      return true;
    }
    byte[] headKey = key.clone();
    KeyLayout.putSub(headKey, headKey.length, 0);
    byte[] head = live.get(ByteBuffer.wrap(headKey));
    return head != null && PartLayout.ofHead(head, 0) == PartLayout.ofPart(value, 0);
  }
}
