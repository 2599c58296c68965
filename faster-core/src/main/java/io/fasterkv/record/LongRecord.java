package io.fasterkv.record;

import io.fasterkv.api.config.KeyHash;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * A record of {@code long} key and value, 24 bytes.
 *
 * <pre>
 *   0        8        16       24
 *   +--------+--------+--------+
 *   | info   | key    | value  |
 *   +--------+--------+--------+
 * </pre>
 *
 * The value is one word that is read and changed atomically; the record needs no latch. A delta has
 * one, SEALED: a thread sets it to change the delta exclusively, or to replace it by a record with
 * the whole value. It is set for a few instructions, and permanently once the record is replaced.
 */
public final class LongRecord extends RecordLayout {
  public static final int BYTES = 24;
  public static final long KEY = 8;
  public static final long VALUE = 16;

  public static final LongRecord INSTANCE = new LongRecord();

  private static final int SPINS = 64;

  private LongRecord() {}

  @Override
  public long hash(KeyHash keyHash, MemorySegment memory, long key, int keyBytes) {
    return LongHash.hash(Words.loadPlain(memory, key));
  }

  @Override
  public long recordBytes(int keyBytes, long valueBytes) {
    return BYTES;
  }

  @Override
  public int headerBytes() {
    return BYTES;
  }

  @Override
  public int firstReadBytes() {
    return BYTES;
  }

  @Override
  public void create(
      MemorySegment memory, long record, long recordBytes, KeyBytes key, long previousAddress) {
    Words.storePlain(memory, record + KEY, key.asLong());
    Words.storeRelease(memory, record, RecordInfo.unpublished(previousAddress));
  }

  @Override
  public long recordBytes(MemorySegment memory, long record) {
    return BYTES;
  }

  @Override
  public boolean isSound(MemorySegment memory, long record, long recordBytes) {
    return recordBytes == BYTES;
  }

  @Override
  public int keyBytes(MemorySegment memory, long record) {
    return Long.BYTES;
  }

  @Override
  public long keyOffset(long record) {
    return record + KEY;
  }

  @Override
  public long valueOffset(MemorySegment memory, long record) {
    return record + VALUE;
  }

  @Override
  public int valueBytes(MemorySegment memory, long record) {
    return Long.BYTES;
  }

  @Override
  public boolean hasLengths() {
    return false;
  }

  @Override
  public void setValueBytes(MemorySegment memory, long record, int valueBytes) {
    // Every value has 8 bytes.
  }

  @Override
  public void copyValue(
      MemorySegment memory, long record, int valueBytes, MemorySegment target, long at) {
    Words.storePlain(target, at + VALUE, Words.loadAcquire(memory, record + VALUE));
  }

  @Override
  public long state(MemorySegment memory, long record) {
    return 0;
  }

  @Override
  public boolean isUnchanged(MemorySegment memory, long record, long state) {
    return true;
  }

  @Override
  public long tryLatch(MemorySegment memory, long record) {
    for (int i = 0; i < SPINS; i++) {
      long info = info(memory, record);
      if (!RecordInfo.isDelta(info)) {
        return RecordInfo.isFrozen(info) ? NOT_LATCHED : 0;
      }
      if (!RecordInfo.isSealed(info)
          && Words.compareAndSet(memory, record, info, info | RecordInfo.SEALED)) {
        return 0;
      }
      Thread.onSpinWait();
    }
    return NOT_LATCHED;
  }

  @Override
  public boolean isFrozenUnderLatch(MemorySegment memory, long record) {
    return false;
  }

  /** A delta that gets any bit stays sealed for good. */
  @Override
  public boolean release(MemorySegment memory, long record, long state, long infoBits) {
    if (infoBits != 0) {
      long before = Words.getAndBitwiseOr(memory, record, infoBits);
      return RecordInfo.isDelta(before) || (before & infoBits) == 0;
    }
    if (RecordInfo.isDelta(info(memory, record))) {
      Words.getAndBitwiseAnd(memory, record, ~RecordInfo.SEALED);
    }
    return true;
  }

  @Override
  public void releaseChanged(MemorySegment memory, long record, long state, int valueBytes) {
    release(memory, record, state, 0);
  }

  @Override
  public boolean isReplaced(long info) {
    return false;
  }

  @Override
  public void copyConsistently(MemorySegment memory, long record, MemorySegment target, long at) {
    Words.storePlain(target, at + KEY, Words.loadPlain(memory, record + KEY));
    copyValue(memory, record, Long.BYTES, target, at);
  }

  @Override
  public boolean keyEquals(MemorySegment memory, long record, KeyBytes key) {
    return Words.loadPlain(memory, record + KEY) == key.asLong();
  }
}
