package io.fasterkv.operation.core;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.ChunkWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LargeReader;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an operation knows about a large value: what it needs, what it has borrowed, and what it has
 * written. {@link #release} returns everything that was borrowed. One thread at a time, as its
 * operation.
 */
public final class LargeWork {
  /** What to read or write. */
  public enum Goal {
    NONE,
    /** Show a large value to the reader. */
    READ,
    /** Show a large value with the deltas above it. */
    READ_FOLD,
    /** Write the value of an upsert. */
    UPSERT,
    /** Write the first value of an RMW. */
    CREATE,
    /** Write the successor of a value that fits a record and was copied to the value buffer. */
    COPY_SMALL,
    /** Write the successor of a large value. */
    COPY_LARGE,
    /** Write the successor of a value that includes deltas. */
    COPY_FOLD
  }

  private static final long NOTHING = -1;

  private final HybridLog log;
  private final BufferPool buffers;
  public final LargeReader reader;
  public final ChunkWriter writer;

  public Goal goal = Goal.NONE;

  /** The large value that is read. */
  public @Nullable LargeAnchor anchor;

  /** Capacity of the new value. */
  public int capacity;

  /**
   * The record whose successor is written, and its state then; if either differs, the work
   * restarts.
   */
  private long base = Address.NONE;

  private long baseState;

  public @Nullable MemorySegment oldValue;
  public @Nullable MemorySegment chunk;
  public @Nullable MemorySegment newValue;
  private long pinned = NOTHING;
  private long unpublished = NOTHING;

  /** Whether the new value is ready: in chunks, or in {@link #newValue} if it fits a record. */
  public boolean isReady;

  /** The anchor of the new value's chunks; null if it fits a record. */
  public @Nullable LargeAnchor made;

  public int madeBytes;

  /** The capacity that a new value needed when there was no room for it; 0 if there was. */
  private int capacityMissed;

  /** How often the operation has waited for scratch memory. */
  public int waits;

  public LargeWork(Engine engine, KeyBytes key, EpochUser user) {
    log = engine.log();
    buffers = engine.buffers();
    reader = new LargeReader(log, user);
    writer = new ChunkWriter(log, key);
  }

  /** Refuses an anchor that is not what was written. */
  public static LargeAnchor sound(@Nullable LargeAnchor anchor) {
    if (anchor == null) {
      throw new Corrupt(LargeAnchor.UNSOUND);
    }
    return anchor;
  }

  /** Sets the goal; returns true if exactly that was written before and is ready. */
  public boolean aim(Goal wanted, long baseAddress, long state, int bytes) {
    boolean isReserved =
        isReady && goal == wanted && base == baseAddress && baseState == state && !isCutOff();
    if (!isReserved) {
      returnBuffers();
      goal = wanted;
      base = baseAddress;
      baseState = state;
      capacity = bytes;
    }
    return isReserved;
  }

  public boolean isRead() {
    return goal == Goal.READ || goal == Goal.READ_FOLD;
  }

  public boolean isFolded() {
    return goal == Goal.READ_FOLD || goal == Goal.COPY_FOLD;
  }

  /** Whether the base, which is latched, still has the state that the new value was made from. */
  public boolean isFrom(long state) {
    return baseState == state;
  }

  /**
   * Takes the new value's memory first, if its size is known: the larger block is harder to get.
   */
  public boolean takeOldValue(int bytes) {
    if (oldValue == null && capacityMissed > bytes && newValue == null) {
      newValue = buffers.tryTakeLarge(capacityMissed);
      if (newValue == null) {
        return false;
      }
    }
    if (oldValue == null) {
      oldValue = buffers.tryTakeLarge(bytes);
    }
    return oldValue != null;
  }

  public boolean takeNewValue() {
    if (newValue != null && newValue.byteSize() < capacity) {
      newValue = give(newValue);
    }
    if (newValue == null) {
      newValue = buffers.tryTakeLarge(capacity);
    }
    capacityMissed = newValue == null ? capacity : 0;
    return newValue != null;
  }

  public boolean takeChunk() {
    if (chunk == null) {
      chunk = buffers.tryTake((int) log.pageBytes());
    }
    return chunk != null;
  }

  /** The target for reading the next chunk. */
  public MemorySegment chunkTarget() {
    return reader.readTarget(Objects.requireNonNull(chunk));
  }

  /** Keeps what is on disk at or above {@code address}; returns false if it was already dropped. */
  public boolean pin(long address) {
    if (pinned == NOTHING) {
      pinned = log.pins().pinBriefly();
    }
    return pinned <= address;
  }

  /** Keeps compaction away from the following chunks until the work is done. */
  public void beginUnpublished() {
    unpublished = log.largeWrites().beginUnpublished();
  }

  /** Returns what reading the old value has taken. */
  public void releaseOldValue() {
    oldValue = give(oldValue);
    chunk = give(chunk);
    if (pinned != NOTHING) {
      long begin = pinned;
      pinned = NOTHING;
      log.pins().unpinBrief(begin);
    }
  }

  /** Makes the new value the base of the next one. */
  public void newValueIsOld() {
    releaseOldValue();
    oldValue = newValue;
    newValue = null;
  }

  /** Called when the new value is in chunks. */
  public void releaseNewValue() {
    newValue = give(newValue);
  }

  /** Returns everything; the operation has ended. */
  public void release() {
    waits = 0;
    capacityMissed = 0;
    goal = Goal.NONE;
    returnBuffers();
  }

  /** Returns what was borrowed and forgets what was written. */
  public void returnBuffers() {
    isReady = false;
    made = null;
    anchor = null;
    newValue = give(newValue);
    if (unpublished != NOTHING) {
      log.largeWrites().endUnpublished(unpublished);
      unpublished = NOTHING;
    }
    releaseOldValue();
  }

  /** Whether the log was truncated above the first chunk, so that the written value has expired. */
  private boolean isCutOff() {
    return made != null && made.oldest() < log.beginAddress();
  }

  private @Nullable MemorySegment give(@Nullable MemorySegment buffer) {
    if (buffer != null) {
      buffers.give(buffer);
    }
    return null;
  }
}
