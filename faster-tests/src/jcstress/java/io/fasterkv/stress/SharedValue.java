package io.fasterkv.stress;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A span record whose value is {@value #OLD_BYTES} bytes of 1 or {@value #NEW_BYTES} bytes of 2,
 * and the detector of a value that is neither of them.
 */
public final class SharedValue {
  public static final String OLD = "old value";
  public static final String NEW = "new value";
  public static final String TORN = "torn value";

  private static final int OLD_BYTES = 64;
  private static final int NEW_BYTES = 128;
  private static final byte OLD_BYTE = 1;
  private static final byte NEW_BYTE = 2;
  private static final int KEY_BYTES = 8;
  private static final long RECORD_BYTES = SpanRecord.INSTANCE.recordBytes(KEY_BYTES, NEW_BYTES);

  private final MemorySegment memory;
  private final MemorySegment copy;
  private final KeyBytes key = new KeyBytes();
  private final long value;

  public SharedValue(OffHeapArena arena) {
    memory = arena.allocate("record", RECORD_BYTES, Long.BYTES);
    copy = arena.allocate("copy", NEW_BYTES, Long.BYTES);
    key.set(arena.allocate("key", KEY_BYTES, Long.BYTES), KEY_BYTES);
    SpanRecord.INSTANCE.create(memory, 0, RECORD_BYTES, key, 0);
    value = SpanRecord.INSTANCE.valueOffset(memory, 0);
  }

  public SharedValue reset() {
    SpanRecord.INSTANCE.create(memory, 0, RECORD_BYTES, key, 0);
    memory.asSlice(value, NEW_BYTES).fill(OLD_BYTE);
    SpanRecord.INSTANCE.setValueBytes(memory, 0, OLD_BYTES);
    Words.storeRelease(memory, 0, RecordInfo.complete(0, false));
    return this;
  }

  public void update() {
    long state = SpanRecord.INSTANCE.tryLatch(memory, 0);
    memory.asSlice(value, NEW_BYTES).fill(NEW_BYTE);
    SpanRecord.INSTANCE.releaseChanged(memory, 0, state, NEW_BYTES);
  }

  /** What a reader sees if it copies the value again until nothing changed during the copy. */
  public String readConsistently() {
    while (true) {
      long state = SpanRecord.INSTANCE.state(memory, 0);
      if (!RecordLayout.isLatched(state)) {
        copyOf(state);
        if (SpanRecord.INSTANCE.isUnchanged(memory, 0, state)) {
          return judge(state);
        }
      }
      Thread.onSpinWait();
    }
  }

  /** Broken: what a reader sees if it does not check the state word a second time. */
  public String readOnce() {
    long state = SpanRecord.INSTANCE.state(memory, 0);
    while (RecordLayout.isLatched(state)) {
      Thread.onSpinWait();
      state = SpanRecord.INSTANCE.state(memory, 0);
    }
    copyOf(state);
    return judge(state);
  }

  private void copyOf(long state) {
    MemorySegment.copy(memory, value, copy, 0, SpanRecord.valueBytes(state));
  }

  private String judge(long state) {
    int length = SpanRecord.valueBytes(state);
    byte expected = length == OLD_BYTES ? OLD_BYTE : NEW_BYTE;
    for (int at = 0; at < length; at++) {
      if (copy.get(ValueLayout.JAVA_BYTE, at) != expected) {
        return TORN;
      }
    }
    return length == OLD_BYTES ? OLD : NEW;
  }
}
