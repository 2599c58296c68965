package io.fasterkv.record;

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
 * The value is one word and is read and changed atomically; the record needs no latch. A delta has
 * one: whoever changes it, or replaces it by a record with the whole value, has set SEALED and is
 * the only one. It is set for a few instructions, and for good once the record is replaced.
 */
public final class LongRecord extends RecordLayout {
  public static final int BYTES = 24;
  public static final long KEY = 8;
  public static final long VALUE = 16;

  public static final LongRecord INSTANCE = new LongRecord();

  private static final int SPINS = 64;

  private LongRecord() {}

  /** Takes a delta's latch; false if it is deleted, replaced, or held by another for long. */
  public static boolean hold(MemorySegment memory, long record) {
    for (int i = 0; i < SPINS; i++) {
      long info = RecordLayout.info(memory, record);
      if (RecordInfo.isTombstone(info)) {
        return false;
      }
      if (!RecordInfo.isFrozen(info)
          && Words.compareAndSet(memory, record, info, info | RecordInfo.SEALED)) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /** Lets go of a delta's latch, or leaves it for good if {@code infoBits} are set. */
  public static void letGo(MemorySegment memory, long record, long infoBits) {
    if (infoBits == 0) {
      Words.getAndBitwiseAnd(memory, record, ~RecordInfo.SEALED);
    } else {
      Words.getAndBitwiseOr(memory, record, infoBits);
    }
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
  public void setValueBytes(MemorySegment memory, long record, int valueBytes) {
    // Every value has 8 bytes.
  }

  @Override
  public void copyConsistently(MemorySegment memory, long record, MemorySegment target, long at) {
    Words.storePlain(target, at + KEY, Words.loadPlain(memory, record + KEY));
    Words.storePlain(target, at + VALUE, Words.loadAcquire(memory, record + VALUE));
  }

  @Override
  public boolean keyEquals(MemorySegment memory, long record, KeyBytes key) {
    return Words.loadPlain(memory, record + KEY) == key.asLong();
  }
}
