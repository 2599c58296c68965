package io.fasterkv.record;

import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Where key and value lie in a record: one of two stateless descriptors. Every record starts with
 * the word of {@link RecordInfo}, is aligned to 8 bytes and lies within one page.
 */
public abstract sealed class RecordLayout permits LongRecord, SpanRecord {

  public static RecordLayout of(RecordKind kind) {
    return kind == RecordKind.LONGS ? LongRecord.INSTANCE : SpanRecord.INSTANCE;
  }

  /** The first word. */
  public static long info(MemorySegment memory, long record) {
    return Words.loadAcquire(memory, record);
  }

  /** How many bytes a record takes, a multiple of 8. */
  public abstract long recordBytes(int keyBytes, long valueBytes);

  /** How many bytes lead a record and tell {@link #recordBytes(MemorySegment, long)}. */
  public abstract int headerBytes();

  /** How many bytes of a record on disk to read before its size is known. */
  public abstract int firstReadBytes();

  /**
   * Lays out a new record: unpublished, with its sizes and key; the value's length is zero. The
   * record's size can be read from now on, so that whatever happens next a scan can step over it.
   */
  public abstract void create(
      MemorySegment memory, long record, long recordBytes, KeyBytes key, long previousAddress);

  /** How many bytes the record at hand takes. */
  public abstract long recordBytes(MemorySegment memory, long record);

  /**
   * Whether the sizes in a record's header fit each other and {@code recordBytes}; for bytes that
   * come from outside.
   */
  public abstract boolean isSound(MemorySegment memory, long record, long recordBytes);

  public abstract int keyBytes(MemorySegment memory, long record);

  public abstract long keyOffset(long record);

  public abstract long valueOffset(MemorySegment memory, long record);

  /** How long a value is; meaningful while no updater is at it. */
  public abstract int valueBytes(MemorySegment memory, long record);

  /** Sets the length of a value in a record that nobody else sees yet. */
  public abstract void setValueBytes(MemorySegment memory, long record, int valueBytes);

  /**
   * Copies a record that others may be updating in place, all but its first word, so that its value
   * is what some moment saw.
   */
  public abstract void copyConsistently(
      MemorySegment memory, long record, MemorySegment target, long at);

  /** Whether a record's key is {@code key}. */
  public abstract boolean keyEquals(MemorySegment memory, long record, KeyBytes key);

  public static long align(long bytes) {
    return (bytes + 7) & ~7L;
  }
}
