package io.fasterkv.record;

import io.fasterkv.api.config.KeyHash;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * A record whose key and value have any length.
 *
 * <pre>
 *   0        8        16       24             24 + align8(keyBytes)       recordBytes
 *   +--------+--------+--------+--------------+---------------------------+
 *   | info   | sizes  | state  | key, zeros   | value, room to grow       |
 *   +--------+--------+--------+--------------+---------------------------+
 *
 *   sizes:  63..32 recordBytes   31..0 keyBytes     written once
 *   state:  63..32 valueBytes    31..1 count        0 latch
 * </pre>
 *
 * <p>The state word combines the value's latch, length and change counter. An updater takes the
 * latch by a compare-and-set from even to odd; releasing it publishes the new length and the next
 * even count in one release store. A reader takes no latch: it reads the word, copies the value,
 * and reads the word again; if the word was even and has not changed, no updater touched the bytes
 * in between (a seqlock; only a count that passes through all its 2^31 values during one copy could
 * deceive it). The latch is held for one callback only, never across an allocation, an epoch
 * refresh or I/O. On disk the latch is never set: pages are flushed only when every thread that
 * could hold one has left them.
 */
public final class SpanRecord extends RecordLayout {
  public static final int HEADER_BYTES = 24;

  /** Most records fit completely. */
  private static final int FIRST_READ_BYTES = 512;

  private static final long SIZES = 8;
  private static final long STATE = 16;
  static final long LATCH = 1;
  private static final long LOW_HALF = 0xFFFF_FFFFL;

  public static final SpanRecord INSTANCE = new SpanRecord();

  private SpanRecord() {}

  @Override
  public long hash(KeyHash keyHash, MemorySegment memory, long key, int keyBytes) {
    return keyHash.hash(memory, key, keyBytes);
  }

  @Override
  public long recordBytes(int keyBytes, long valueBytes) {
    return HEADER_BYTES + Words.align(keyBytes) + Words.align(valueBytes);
  }

  @Override
  public int headerBytes() {
    return HEADER_BYTES;
  }

  @Override
  public int firstReadBytes() {
    return FIRST_READ_BYTES;
  }

  @Override
  public void create(
      MemorySegment memory, long record, long recordBytes, KeyBytes key, long previousAddress) {
    Words.storePlain(memory, record + SIZES, recordBytes << Integer.SIZE | key.length());
    Words.storePlain(memory, record + STATE, 0);
    key.copyTo(memory, record + HEADER_BYTES);
    Words.storeRelease(memory, record, RecordInfo.unpublished(previousAddress));
  }

  @Override
  public long recordBytes(MemorySegment memory, long record) {
    return Words.loadPlain(memory, record + SIZES) >>> Integer.SIZE;
  }

  @Override
  public boolean isSound(MemorySegment memory, long record, long recordBytes) {
    int keyBytes = keyBytes(memory, record);
    int valueBytes = valueBytes(memory, record);
    return keyBytes >= 0
        && valueBytes >= 0
        && recordBytes == Words.align(recordBytes)
        && recordBytes(keyBytes, valueBytes) <= recordBytes;
  }

  @Override
  public int keyBytes(MemorySegment memory, long record) {
    return (int) Words.loadPlain(memory, record + SIZES);
  }

  @Override
  public long keyOffset(long record) {
    return record + HEADER_BYTES;
  }

  @Override
  public long valueOffset(MemorySegment memory, long record) {
    return record + HEADER_BYTES + Words.align(keyBytes(memory, record));
  }

  @Override
  public int valueBytes(MemorySegment memory, long record) {
    return valueBytes(state(memory, record));
  }

  /** Whole words of a record up to the end of its value, without the spare capacity after it. */
  public static long usedBytes(MemorySegment memory, long record) {
    return INSTANCE.valueOffset(memory, record)
        - record
        + Words.align(INSTANCE.valueBytes(memory, record));
  }

  /** Maximum length of a value in place. */
  public static int valueCapacity(MemorySegment memory, long record) {
    long sizes = Words.loadPlain(memory, record + SIZES);
    long keyBytes = sizes & LOW_HALF;
    return (int) ((sizes >>> Integer.SIZE) - HEADER_BYTES - Words.align(keyBytes));
  }

  @Override
  public void copyConsistently(MemorySegment memory, long record, MemorySegment target, long at) {
    long bytes = recordBytes(memory, record) - SIZES;
    while (true) {
      long state = state(memory, record);
      if (!isLatched(state)) {
        MemorySegment.copy(memory, record + SIZES, target, at + SIZES, bytes);
        if (isUnchanged(memory, record, state)) {
          return;
        }
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public boolean keyEquals(MemorySegment memory, long record, KeyBytes key) {
    return keyBytes(memory, record) == key.length()
        && key.contentEquals(memory, record + HEADER_BYTES);
  }

  @Override
  public void copyValue(
      MemorySegment memory, long record, int valueBytes, MemorySegment target, long at) {
    writeValue(target, at, memory, valueOffset(memory, record), valueBytes);
  }

  @Override
  public long state(MemorySegment memory, long record) {
    return Words.loadAcquire(memory, record + STATE);
  }

  public static int valueBytes(long state) {
    return (int) (state >>> Integer.SIZE);
  }

  @Override
  public boolean isUnchanged(MemorySegment memory, long record, long state) {
    Words.acquireFence();
    return Words.loadPlain(memory, record + STATE) == state;
  }

  @Override
  public boolean isReplaced(long info) {
    return RecordInfo.isSealed(info);
  }

  /** Spins while another updater has the latch. */
  @Override
  public long tryLatch(MemorySegment memory, long record) {
    while (true) {
      long state = state(memory, record);
      if (!isLatched(state) && Words.compareAndSet(memory, record + STATE, state, state | LATCH)) {
        // A reader must see the latch before any byte that is changed under it.
        Words.storeStoreFence();
        return state;
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public boolean isFrozenUnderLatch(MemorySegment memory, long record) {
    return RecordInfo.isFrozen(info(memory, record));
  }

  /** The state stays as it was before: readers of the value need not read again. */
  @Override
  public boolean release(MemorySegment memory, long record, long state, long infoBits) {
    if (infoBits != 0) {
      Words.getAndBitwiseOr(memory, record, infoBits);
    }
    Words.storeRelease(memory, record + STATE, state);
    return true;
  }

  @Override
  public void releaseChanged(MemorySegment memory, long record, long state, int valueBytes) {
    long count = (state + 2) & LOW_HALF;
    Words.storeRelease(memory, record + STATE, (long) valueBytes << Integer.SIZE | count);
  }

  @Override
  public boolean hasLengths() {
    return true;
  }

  @Override
  public void setValueBytes(MemorySegment memory, long record, int valueBytes) {
    Words.storePlain(memory, record + STATE, (long) valueBytes << Integer.SIZE);
  }
}
