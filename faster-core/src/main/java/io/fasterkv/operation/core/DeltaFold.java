package io.fasterkv.operation.core;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongMerge;
import io.fasterkv.api.Merge;
import io.fasterkv.api.SpanMerge;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The value of a key whose newest record is a delta, as far as its records have been found. They
 * are found newest first, in memory or on disk, and each one is merged with the result as its older
 * part. Belongs to one operation.
 *
 * <p>The result has the shape of a record at offset 0 of a buffer, so all code that can read or
 * copy a record can read or copy it. A newest delta that may still change in place is kept
 * separately, as a copy from the moment it was read: a read uses that copy, and an operation that
 * replaces the delta merges it again while it holds the delta's latch.
 *
 * <p>A value larger than a page below the deltas is noted, not read: {@code LargeValues} reads it
 * without an epoch and merges this result onto it.
 */
public final class DeltaFold {
  static final int FIRST_BYTES = 4 * BufferPool.MIN_BYTES;

  private final RecordLayout layout;
  private final BufferPool buffers;
  private final @Nullable Merge merge;
  private final KeyBytes key;
  private final ByteSpan keySpan;
  private final ByteSpan older = new ByteSpan();
  private final ByteSpan newer = new ByteSpan();
  private final ByteSpan result = new ByteSpan();

  /** The merged records below the newest delta, and that delta too unless it is kept separately. */
  private MemorySegment part = MemorySegment.NULL;

  private MemorySegment spare = MemorySegment.NULL;
  private MemorySegment newestCopy = MemorySegment.NULL;
  private @Nullable LargeAnchor base;
  private boolean isOpen;
  private boolean isNewestApart;
  private long newestState;
  private int partRecords;
  private long newestAddress = Address.NONE;
  private long lowestAddress = Address.NONE;

  /**
   * @param key the operation's key
   * @param keySpan the same, for functions that merge values of any length
   */
  DeltaFold(Engine engine, KeyBytes key, ByteSpan keySpan) {
    this.key = key;
    this.keySpan = keySpan;
    layout = engine.layout();
    buffers = engine.buffers();
    merge = engine.merge();
  }

  /** Takes the first buffers from the pool if the store can merge. */
  void takeBuffers() {
    if (merge != null) {
      MemorySegment first = buffers.take(FIRST_BYTES);
      try {
        part = first.asSlice(0, BufferPool.MIN_BYTES);
        spare = first.asSlice(BufferPool.MIN_BYTES, BufferPool.MIN_BYTES);
        newestCopy = first.asSlice(2 * BufferPool.MIN_BYTES, 2 * BufferPool.MIN_BYTES);
      } catch (Throwable e) {
        buffers.give(first);
        throw e;
      }
    }
  }

  /** Forgets everything that was found. */
  public void reset() {
    isOpen = false;
    isNewestApart = false;
    partRecords = 0;
    base = null;
    newestState = 0;
  }

  /** Starts with the newest record of a key, a delta that no thread changes. */
  public void open(long address, MemorySegment memory, long record) {
    begin(address);
    newestState = layout.state(memory, record);
    addOlder(address, memory, record, Address.NONE);
  }

  /** Starts with the newest record of a key, a delta that other threads may be changing. */
  public void openApart(long address, MemorySegment memory, long record) {
    begin(address);
    copyNewest(memory, record);
    isNewestApart = true;
  }

  /**
   * Adds the next older record, which no thread changes.
   *
   * @param begin the log's begin address, read before the chain was entered: a large value that
   *     begins below it has expired
   */
  public void addOlder(long address, MemorySegment memory, long record, long begin) {
    lowestAddress = address;
    if (RecordInfo.isLarge(RecordLayout.info(memory, record))) {
      LargeAnchor found = LargeWork.sound(LargeAnchor.read(memory, record));
      if (found.oldest() >= begin) {
        base = found;
        lowestAddress = found.oldest();
      }
      return;
    }
    if (partRecords++ == 0) {
      part = copied(memory, record, part);
    } else {
      mergeToSpare(memory, record, part, 0);
      MemorySegment merged = spare;
      spare = part;
      part = merged;
    }
  }

  /** Length of the value when merged onto the large one below. */
  public int bytesOnto(ByteSpan large) {
    wrap(newer, value(), 0);
    return spans().mergedBytes(keySpan, large, newer);
  }

  /** Merges the result onto the large value below. */
  public void mergeOnto(ByteSpan large, ByteSpan target) {
    wrap(newer, value(), 0);
    spans().merge(keySpan, large, newer, target);
  }

  /**
   * The value, or what is to be merged onto the large one below, including the newest delta as it
   * was read; in the shape of a record.
   */
  public MemorySegment value() {
    return isNewestApart ? valueWith(newestCopy, 0) : part;
  }

  /** The value including the newest delta as it is now; the caller must hold that delta's latch. */
  public MemorySegment valueWith(MemorySegment memory, long newest) {
    if (partRecords == 0) {
      spare = copied(memory, newest, spare);
    } else {
      mergeToSpare(part, 0, memory, newest);
    }
    return spare;
  }

  /** Reads the newest delta again, which other threads may be changing. */
  public void copyNewest(MemorySegment memory, long record) {
    while (true) {
      long state = layout.state(memory, record);
      if (!RecordLayout.isLatched(state)) {
        newestCopy = copied(memory, record, newestCopy);
        if (layout.isUnchanged(memory, record, state)) {
          newestState = state;
          return;
        }
      }
      Thread.onSpinWait();
    }
  }

  public boolean isOpen() {
    return isOpen;
  }

  /** Whether the newest delta may have changed since it was read. */
  public boolean isNewestApart() {
    return isNewestApart;
  }

  /** The large value that the result must be merged onto; null if there is none. */
  public @Nullable LargeAnchor base() {
    return base;
  }

  /** The state of the newest delta when it was read, to detect changes; 0 for records of longs. */
  public long newestState() {
    return newestState;
  }

  public long newestAddress() {
    return newestAddress;
  }

  /** Address of the oldest record that was found, or the start of its large value. */
  public long lowestAddress() {
    return lowestAddress;
  }

  /** Number of records that were found. */
  public int records() {
    return partRecords + (isNewestApart ? 1 : 0) + (base == null ? 0 : 1);
  }

  /** Returns the buffers. */
  void close() {
    if (merge != null) {
      buffers.give(part);
      buffers.give(spare);
      buffers.give(newestCopy);
    }
  }

  private void begin(long address) {
    requireMerge(merge);
    reset();
    isOpen = true;
    newestAddress = address;
    lowestAddress = address;
  }

  private SpanMerge spans() {
    return (SpanMerge) requireMerge(merge);
  }

  private static Merge requireMerge(@Nullable Merge merge) {
    if (merge == null) {
      throw new BadConfig(
          "a value has deltas and the store cannot merge them: merge=null, allowed=the merge of the"
              + " MergeableFunctions that wrote them; set StoreConfigBuilder.merge");
    }
    return merge;
  }

  /** Copies a record with its key; the caller must detect changes made meanwhile. */
  private MemorySegment copied(MemorySegment memory, long record, MemorySegment target) {
    int bytes = layout.valueBytes(memory, record);
    MemorySegment to = shaped(target, bytes);
    layout.copyValue(memory, record, bytes, to, 0);
    return to;
  }

  private void mergeToSpare(
      MemorySegment olderMemory, long olderRecord, MemorySegment newerMemory, long newerRecord) {
    switch (requireMerge(merge)) {
      case LongMerge longs -> {
        spare = shaped(spare, Long.BYTES);
        long value =
            longs.merge(
                key.asLong(),
                Words.loadAcquire(olderMemory, olderRecord + LongRecord.VALUE),
                Words.loadAcquire(newerMemory, newerRecord + LongRecord.VALUE));
        Words.storePlain(spare, LongRecord.VALUE, value);
      }
      case SpanMerge spans -> {
        wrap(older, olderMemory, olderRecord);
        wrap(newer, newerMemory, newerRecord);
        int bytes = spans.mergedBytes(keySpan, older, newer);
        spare = shaped(spare, bytes);
        result.wrap(spare, layout.valueOffset(spare, 0), 0, bytes);
        spans.merge(keySpan, older, newer, result);
        layout.setValueBytes(spare, 0, result.length());
      }
    }
  }

  private void wrap(ByteSpan span, MemorySegment memory, long record) {
    int bytes = layout.valueBytes(memory, record);
    span.wrap(memory, layout.valueOffset(memory, record), bytes, bytes);
  }

  /** Lays out a buffer as a record of the operation's key with room for a value. */
  private MemorySegment shaped(MemorySegment buffer, int valueBytes) {
    long bytes = layout.recordBytes(key.length(), valueBytes);
    MemorySegment target = buffer;
    if (buffer.byteSize() < bytes) {
      target = buffers.take(Math.toIntExact(bytes));
      buffers.give(buffer);
    }
    layout.create(target, 0, bytes, key, Address.NONE);
    return target;
  }
}
