package io.fasterkv.record;

import io.fasterkv.api.config.KeyHash;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Locates key and value in a record: one of two stateless descriptors. Every record starts with the
 * word of {@link RecordInfo}, is aligned to 8 bytes and is within one page.
 */
public abstract sealed class RecordLayout permits LongRecord, SpanRecord {
  /** The result of {@link #tryLatch} for a record without it; states are not negative. */
  public static final long NOT_LATCHED = -1;

  public static RecordLayout of(RecordKind kind) {
    return kind == RecordKind.LONGS ? LongRecord.INSTANCE : SpanRecord.INSTANCE;
  }

  /** The first word. */
  public static long info(MemorySegment memory, long record) {
    return Words.loadAcquire(memory, record);
  }

  /**
   * The hash of a key. Keys of any length have the store's own function, which a {@code long} key
   * does not use.
   */
  public abstract long hash(KeyHash keyHash, MemorySegment memory, long key, int keyBytes);

  /** Length of a record, a multiple of 8. */
  public abstract long recordBytes(int keyBytes, long valueBytes);

  /** Number of leading bytes that determine {@link #recordBytes(MemorySegment, long)}. */
  public abstract int headerBytes();

  /** Number of bytes of a record on disk to read before its size is known. */
  public abstract int firstReadBytes();

  /**
   * Lays out a new record: unpublished, with its sizes and key, and a value length of zero. From
   * now on the record's size can be read, so a scan can skip it whatever happens next.
   */
  public abstract void create(
      MemorySegment memory, long record, long recordBytes, KeyBytes key, long previousAddress);

  /** Length of an existing record. */
  public abstract long recordBytes(MemorySegment memory, long record);

  /**
   * Whether the sizes in a record's header are consistent with each other and with {@code
   * recordBytes}; for bytes from outside.
   */
  public abstract boolean isSound(MemorySegment memory, long record, long recordBytes);

  public abstract int keyBytes(MemorySegment memory, long record);

  public abstract long keyOffset(long record);

  public abstract long valueOffset(MemorySegment memory, long record);

  /** Length of a value; valid only while no thread updates it. */
  public abstract int valueBytes(MemorySegment memory, long record);

  /** Whether values differ in length. */
  public abstract boolean hasLengths();

  /** Sets the length of a value in a record that no other thread sees yet. */
  public abstract void setValueBytes(MemorySegment memory, long record, int valueBytes);

  /** Writes a value into a record that no other thread sees yet. */
  public final void writeValue(
      MemorySegment memory, long record, MemorySegment source, long from, int valueBytes) {
    MemorySegment.copy(source, from, memory, valueOffset(memory, record), valueBytes);
    setValueBytes(memory, record, valueBytes);
  }

  /**
   * Copies a value of {@code valueBytes} into a record at {@code target} that no other thread sees
   * yet. If other threads may be changing the value, the caller compares the {@link #state} before
   * and after.
   */
  public abstract void copyValue(
      MemorySegment memory, long record, int valueBytes, MemorySegment target, long at);

  /**
   * The word that changes with a value whose bytes do not change atomically; 0 if they do. An odd
   * one means that an updater has the value's latch.
   */
  public abstract long state(MemorySegment memory, long record);

  /** Whether an updater has the value's latch, so that the bytes may be changing. */
  public static boolean isLatched(long state) {
    return (state & SpanRecord.LATCH) != 0;
  }

  /** Whether nothing has changed since {@code state} was read; called after copying the bytes. */
  public abstract boolean isUnchanged(MemorySegment memory, long record, long state);

  /**
   * Excludes all other updaters from a mutable record until it is released, and returns its state
   * before; {@link #NOT_LATCHED} if another thread holds it for long. The value of an ordinary
   * record of longs is changed atomically, so it has no latch; {@code NOT_LATCHED} if it is deleted
   * or replaced.
   */
  public abstract long tryLatch(MemorySegment memory, long record);

  /** Whether a record that the caller has latched was deleted or replaced before. */
  public abstract boolean isFrozenUnderLatch(MemorySegment memory, long record);

  /**
   * Releases a record whose value has not changed, after setting {@code infoBits} in its first
   * word. Returns whether this call has set them: an ordinary record of longs is not latched, so
   * another thread may have set them first.
   *
   * @param state what {@link #tryLatch} returned
   */
  public abstract boolean release(MemorySegment memory, long record, long state, long infoBits);

  /**
   * Releases a record and publishes the length of its new value.
   *
   * @param state what {@link #tryLatch} returned
   */
  public abstract void releaseChanged(
      MemorySegment memory, long record, long state, int valueBytes);

  /**
   * Whether the first word of a record says that a copy has replaced it for good. Only span records
   * have this mark: for a delta of longs, the same bit is also its latch.
   */
  public abstract boolean isReplaced(long info);

  /**
   * Copies a record that other threads may be updating in place, without its first word, so that
   * its value is consistent.
   */
  public abstract void copyConsistently(
      MemorySegment memory, long record, MemorySegment target, long at);

  /** Whether a record's key is {@code key}. */
  public abstract boolean keyEquals(MemorySegment memory, long record, KeyBytes key);
}
