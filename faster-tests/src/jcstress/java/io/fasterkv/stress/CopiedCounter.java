package io.fasterkv.stress;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A counter in a span record that one thread increments in place while another replaces it with an
 * incremented copy, latching and sealing the old record as a read-modify-write does.
 */
final class CopiedCounter {
  private static final int KEY_BYTES = 8;
  private static final long RECORD_BYTES = SpanRecord.INSTANCE.recordBytes(KEY_BYTES, Long.BYTES);

  private final MemorySegment old;
  private final MemorySegment copy;
  private final KeyBytes key = new KeyBytes();
  private final long value;

  /** Which of the two records the chain leads to. */
  private final AtomicInteger newest = new AtomicInteger();

  CopiedCounter(OffHeapArena arena) {
    old = arena.allocate("record", RECORD_BYTES, Long.BYTES);
    copy = arena.allocate("copy", RECORD_BYTES, Long.BYTES);
    key.set(arena.allocate("key", KEY_BYTES, Long.BYTES), KEY_BYTES);
    SpanRecord.INSTANCE.create(old, 0, RECORD_BYTES, key, 0);
    value = SpanRecord.INSTANCE.valueOffset(old, 0);
  }

  CopiedCounter reset() {
    fill(old, 0);
    newest.set(0);
    return this;
  }

  void incrementInPlace() {
    while (!tryIncrement(newest.get() == 0 ? old : copy)) {
      Thread.onSpinWait();
    }
  }

  void incrementByCopy() {
    long state = SpanRecord.INSTANCE.tryLatch(old, 0);
    fill(copy, Words.loadPlain(old, value) + 1);
    newest.set(1);
    SpanRecord.INSTANCE.release(old, 0, state, RecordInfo.SEALED);
  }

  long count() {
    return Words.loadPlain(newest.get() == 0 ? old : copy, value);
  }

  private boolean tryIncrement(MemorySegment record) {
    long state = SpanRecord.INSTANCE.tryLatch(record, 0);
    if (SpanRecord.INSTANCE.isFrozenUnderLatch(record, 0)) {
      SpanRecord.INSTANCE.release(record, 0, state, 0);
      return false;
    }
    Words.storePlain(record, value, Words.loadPlain(record, value) + 1);
    SpanRecord.INSTANCE.releaseChanged(record, 0, state, Long.BYTES);
    return true;
  }

  private void fill(MemorySegment record, long count) {
    SpanRecord.INSTANCE.create(record, 0, RECORD_BYTES, key, 0);
    Words.storePlain(record, SpanRecord.INSTANCE.valueOffset(record, 0), count);
    SpanRecord.INSTANCE.setValueBytes(record, 0, Long.BYTES);
    Words.storeRelease(record, 0, RecordInfo.complete(0, false));
  }
}
