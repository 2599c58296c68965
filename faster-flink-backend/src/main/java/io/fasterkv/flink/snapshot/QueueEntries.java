package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.tree.TreeCursor;
import io.fasterkv.flink.records.tree.TreeLayout;
import java.lang.foreign.MemorySegment;

/**
 * Reads timer queues: blocks, whose leaves hold timers, and timers that are too long for a leaf.
 * Makes one entry for a timer.
 */
final class QueueEntries extends SingleEntries {
  private final ByteSpan leaf = new ByteSpan();
  private final TreeCursor timers = new TreeCursor();

  QueueEntries(SavepointValue of) {
    super(of);
  }

  @Override
  void read(int sub) {
    if (!of.isBlock()) {
      super.read(sub);
      return;
    }
    byte[] bytes = records.valueBytes();
    int start = records.valueStart();
    if (bytes[start + TreeLayout.LEVEL_AT] == TreeLayout.LEAF) {
      int length = records.valueLength();
      leaf.wrap(MemorySegment.ofArray(bytes), start, length, length);
      timers.on(leaf, sub);
    }
  }

  @Override
  boolean next() {
    while (timers.next()) {
      if (!TreeLayout.isLong(timers.keyLength())) {
        byte[] timer = new byte[timers.keyLength()];
        leaf.copyTo(timers.keyAt(), timer, 0, timer.length);
        takeTimer(timer, timer.length);
        return true;
      }
    }
    return super.next();
  }

  @Override
  void takeWhole() {
    takeTimer(gathered.array(), gathered.length());
    gathered.clear();
  }
}
