package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A broken delta of longs and its collapse, which seals the delta only after replacing it and does
 * not hold it.
 */
public final class UnheldDelta {
  private static final long DELTA = 0;
  private static final long WHOLE = LongRecord.BYTES;

  private final MemorySegment memory;

  /** Offset of the record that the chain leads to. */
  private final AtomicInteger newest = new AtomicInteger();

  public UnheldDelta(OffHeapArena arena) {
    memory = arena.allocate("records", 2 * LongRecord.BYTES, Long.BYTES);
  }

  public UnheldDelta reset() {
    Words.storePlain(memory, DELTA + LongRecord.VALUE, 1);
    Words.storeVolatile(memory, DELTA, RecordInfo.complete(0, RecordInfo.DELTA));
    newest.set((int) DELTA);
    return this;
  }

  /** Adds one, as an update of a delta does. */
  public void add() {
    while (newest.get() == DELTA) {
      long state = LongRecord.INSTANCE.tryLatch(memory, DELTA);
      if (state != RecordLayout.NOT_LATCHED) {
        long at = DELTA + LongRecord.VALUE;
        Words.storeRelease(memory, at, Words.loadAcquire(memory, at) + 1);
        LongRecord.INSTANCE.release(memory, DELTA, state, 0);
        return;
      }
    }
    Words.storePlain(
        memory, WHOLE + LongRecord.VALUE, Words.loadPlain(memory, WHOLE + LongRecord.VALUE) + 1);
  }

  public void collapse() {
    long value = Words.loadAcquire(memory, DELTA + LongRecord.VALUE);
    Words.storePlain(memory, WHOLE + LongRecord.VALUE, value + 1);
    newest.set((int) WHOLE);
    Words.getAndBitwiseOr(memory, DELTA, RecordInfo.SEALED);
  }

  public long sum() {
    return Words.loadPlain(memory, WHOLE + LongRecord.VALUE);
  }
}
