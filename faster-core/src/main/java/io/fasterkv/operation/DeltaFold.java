package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongMerge;
import io.fasterkv.api.Merge;
import io.fasterkv.api.SpanMerge;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The value of a key whose newest record is a delta, as far as its records have been found: they
 * come newest first, in memory or from disk, and each is merged into what is there, as the older
 * part. One operation's.
 *
 * <p>What is merged has the shape of a record, at offset 0 of a buffer, so that whoever can read or
 * copy a record can read or copy this. A newest delta that may still be changed in place is kept
 * apart, in a copy of the moment it was read: a read takes that copy, and an operation that
 * replaces the delta merges it once more when it holds it.
 *
 * <p>A value larger than a page below the deltas is noted, not read: {@link LargeValues} reads it
 * with no epoch held, and merges what is here onto it.
 */
final class DeltaFold {
  static final int FIRST_BYTES = 4 * BufferPool.MIN_BYTES;

  private final RecordLayout layout;
  private final BufferPool buffers;
  private final @Nullable Merge merge;
  private final ByteSpan older = new ByteSpan();
  private final ByteSpan newer = new ByteSpan();
  private final ByteSpan result = new ByteSpan();

  /** All that was found below the newest delta, and that too unless it is kept apart. */
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

  DeltaFold(Engine engine) {
    layout = engine.layout();
    buffers = engine.buffers();
    merge = engine.merge();
  }

  /** Takes the first buffers from the pool, if there is anything to merge in this store. */
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

  /** Forgets all that was found. */
  void reset() {
    isOpen = false;
    isNewestApart = false;
    partRecords = 0;
    base = null;
    newestState = 0;
  }

  /** Begins with the newest record of a key, a delta that nobody changes. */
  void open(Operation<?, ?, ?> op, long address, MemorySegment memory, long record) {
    begin(address);
    newestState = stateOf(memory, record);
    addOlder(op, address, memory, record, Address.NONE);
  }

  /** Begins with the newest record of a key, a delta that others may be changing. */
  void openApart(Operation<?, ?, ?> op, long address, MemorySegment memory, long record) {
    begin(address);
    copyNewest(op, memory, record);
    isNewestApart = true;
  }

  /**
   * Adds the next older record, which nobody changes.
   *
   * @param begin the log's begin before the chain was entered: a large value that begins below it
   *     has expired
   */
  void addOlder(
      Operation<?, ?, ?> op, long address, MemorySegment memory, long record, long begin) {
    lowestAddress = address;
    if (RecordInfo.isLarge(RecordLayout.info(memory, record))) {
      LargeAnchor found = LargeValues.sound(LargeAnchor.read(memory, record));
      if (found.oldest() >= begin) {
        base = found;
        lowestAddress = found.oldest();
      }
      return;
    }
    if (partRecords++ == 0) {
      part = copied(op, memory, record, part);
    } else {
      mergeToSpare(op, memory, record, part, 0);
      MemorySegment merged = spare;
      spare = part;
      part = merged;
    }
  }

  /** How many bytes the value has, merged onto the large one below. */
  int bytesOnto(Operation<?, ?, ?> op, ByteSpan large) {
    wrap(newer, value(op), 0);
    return spans().mergedBytes(op.keySpan, large, newer);
  }

  /** Merges onto the large value below. */
  void mergeOnto(Operation<?, ?, ?> op, ByteSpan large, ByteSpan target) {
    wrap(newer, value(op), 0);
    spans().merge(op.keySpan, large, newer, target);
  }

  /**
   * The value, or what is to be merged onto the large one below, with the newest delta as it was
   * when it was read; shaped like a record.
   */
  MemorySegment value(Operation<?, ?, ?> op) {
    return isNewestApart ? valueWith(op, newestCopy, 0) : part;
  }

  /** The value, with the newest delta as it is now; the caller holds that one. */
  MemorySegment valueWith(Operation<?, ?, ?> op, MemorySegment memory, long newest) {
    if (partRecords == 0) {
      spare = copied(op, memory, newest, spare);
    } else {
      mergeToSpare(op, part, 0, memory, newest);
    }
    return spare;
  }

  /** Reads the newest delta, which others may be changing, once more. */
  void copyNewest(Operation<?, ?, ?> op, MemorySegment memory, long record) {
    while (true) {
      long state = stateOf(memory, record);
      if (!SpanRecord.isLatched(state)) {
        newestCopy = copied(op, memory, record, newestCopy);
        if (!(layout instanceof SpanRecord) || SpanRecord.isUnchanged(memory, record, state)) {
          newestState = state;
          return;
        }
      }
      Thread.onSpinWait();
    }
  }

  boolean isOpen() {
    return isOpen;
  }

  /** Whether the newest delta may be changed after it was read. */
  boolean isNewestApart() {
    return isNewestApart;
  }

  /** The large value that all this is to be merged onto; null if there is none. */
  @Nullable LargeAnchor base() {
    return base;
  }

  /** Tells whether the newest delta is as it was when it was read; 0 for records of longs. */
  long newestState() {
    return newestState;
  }

  long newestAddress() {
    return newestAddress;
  }

  /** Where the oldest record that was found lies, or its large value begins. */
  long lowestAddress() {
    return lowestAddress;
  }

  /** How many records were found. */
  int records() {
    return partRecords + (isNewestApart ? 1 : 0) + (base == null ? 0 : 1);
  }

  /** Gives the buffers back. */
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

  private long stateOf(MemorySegment memory, long record) {
    return layout instanceof SpanRecord ? SpanRecord.state(memory, record) : 0;
  }

  private SpanMerge spans() {
    return (SpanMerge) requireMerge(merge);
  }

  private static Merge requireMerge(@Nullable Merge merge) {
    if (merge == null) {
      throw new BadConfig(
          "a value has deltas and the store cannot merge them: merge=null, allowed=the merge of the"
              + " MergeableFunctions that wrote them; set StoreConfig.Builder.merge");
    }
    return merge;
  }

  /** Copies a record with its key; bytes that change meanwhile are the caller's to notice. */
  private MemorySegment copied(
      Operation<?, ?, ?> op, MemorySegment memory, long record, MemorySegment target) {
    int bytes = layout.valueBytes(memory, record);
    MemorySegment to = shaped(op, target, bytes);
    if (layout instanceof LongRecord) {
      Words.storePlain(to, LongRecord.VALUE, Words.loadAcquire(memory, record + LongRecord.VALUE));
    } else {
      MemorySegment.copy(
          memory, layout.valueOffset(memory, record), to, layout.valueOffset(to, 0), bytes);
    }
    layout.setValueBytes(to, 0, bytes);
    return to;
  }

  private void mergeToSpare(
      Operation<?, ?, ?> op,
      MemorySegment olderMemory,
      long olderRecord,
      MemorySegment newerMemory,
      long newerRecord) {
    switch (requireMerge(merge)) {
      case LongMerge longs -> {
        spare = shaped(op, spare, Long.BYTES);
        long value =
            longs.merge(
                op.key.asLong(),
                Words.loadAcquire(olderMemory, olderRecord + LongRecord.VALUE),
                Words.loadAcquire(newerMemory, newerRecord + LongRecord.VALUE));
        Words.storePlain(spare, LongRecord.VALUE, value);
      }
      case SpanMerge spans -> {
        wrap(older, olderMemory, olderRecord);
        wrap(newer, newerMemory, newerRecord);
        int bytes = spans.mergedBytes(op.keySpan, older, newer);
        spare = shaped(op, spare, bytes);
        result.wrap(spare, layout.valueOffset(spare, 0), 0, bytes);
        spans.merge(op.keySpan, older, newer, result);
        layout.setValueBytes(spare, 0, result.length());
      }
    }
  }

  private void wrap(ByteSpan span, MemorySegment memory, long record) {
    int bytes = layout.valueBytes(memory, record);
    span.wrap(memory, layout.valueOffset(memory, record), bytes, bytes);
  }

  /** A buffer laid out as a record of the operation's key with room for a value. */
  private MemorySegment shaped(Operation<?, ?, ?> op, MemorySegment buffer, int valueBytes) {
    long bytes = layout.recordBytes(op.key.length(), valueBytes);
    MemorySegment target = buffer;
    if (buffer.byteSize() < bytes) {
      target = buffers.take(Math.toIntExact(bytes));
      buffers.give(buffer);
    }
    layout.create(target, 0, bytes, op.key, Address.NONE);
    return target;
  }
}
