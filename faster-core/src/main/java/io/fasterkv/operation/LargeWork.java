package io.fasterkv.operation;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.ChunkWriter;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LargeReader;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an operation that has met a large value knows about it: what it wants, what it has borrowed,
 * and what it has made. All that was borrowed goes back by {@link #release}. One thread at a time,
 * as its operation.
 */
final class LargeWork {
  /** What is to be made or read. */
  enum Goal {
    NONE,
    /** Show a large value to the reader. */
    READ,
    /** Show a large value with the deltas above it. */
    READ_FOLD,
    /** Make the value of an upsert. */
    UPSERT,
    /** Make the first value of an RMW. */
    CREATE,
    /** Make the successor of a value that fits a record, and was copied to the value buffer. */
    COPY_SMALL,
    /** Make the successor of a large value. */
    COPY_LARGE,
    /** Make the successor of a value that deltas are a part of. */
    COPY_FOLD
  }

  private static final long NOTHING = -1;

  private final HybridLog log;
  private final BufferPool buffers;
  final LargeReader reader;
  final ChunkWriter writer;

  Goal goal = Goal.NONE;

  /** The large value that is read. */
  @Nullable LargeAnchor anchor;

  /** How many bytes the new value may take. */
  int capacity;

  /** The record whose successor is made, and its state then: if either differs, start over. */
  private long base = Address.NONE;

  private long baseState;

  @Nullable MemorySegment oldValue;
  @Nullable MemorySegment chunk;
  @Nullable MemorySegment newValue;
  private long pinned = NOTHING;
  private long unpublished = NOTHING;

  /** Whether the new value is there: as chunks, or in {@link #newValue} if it fits a record. */
  boolean isReady;

  /** Leads to the chunks of the new value; null if it fits a record. */
  @Nullable LargeAnchor made;

  int madeBytes;

  /** What a new value wanted when there was no room for it; 0 if there was. */
  private int capacityMissed;

  /** How often scratch memory was waited for. */
  int waits;

  LargeWork(Engine engine, Operation<?, ?, ?> op, EpochUser user) {
    log = engine.log();
    buffers = engine.buffers();
    reader = new LargeReader(log, user);
    writer = new ChunkWriter(log, op.key);
  }

  /** Sets what is wanted; true if just that was made before and is ready. */
  boolean aim(Goal wanted, long baseAddress, long state, int bytes) {
    boolean isThere =
        isReady && goal == wanted && base == baseAddress && baseState == state && !isCutOff();
    if (!isThere) {
      giveBack();
      goal = wanted;
      base = baseAddress;
      baseState = state;
      capacity = bytes;
    }
    return isThere;
  }

  boolean isRead() {
    return goal == Goal.READ || goal == Goal.READ_FOLD;
  }

  boolean isFolded() {
    return goal == Goal.READ_FOLD || goal == Goal.COPY_FOLD;
  }

  /** Whether the base, which is latched, has the state that the new value was made from. */
  boolean isFrom(long state) {
    return baseState == state;
  }

  /** The new value's room comes first, as far as it is known: the larger block is harder to get. */
  boolean takeOldValue(int bytes) {
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

  boolean takeNewValue() {
    if (newValue != null && newValue.byteSize() < capacity) {
      newValue = give(newValue);
    }
    if (newValue == null) {
      newValue = buffers.tryTakeLarge(capacity);
    }
    capacityMissed = newValue == null ? capacity : 0;
    return newValue != null;
  }

  boolean takeChunk() {
    if (chunk == null) {
      chunk = buffers.tryTake((int) log.pageBytes());
    }
    return chunk != null;
  }

  /** Where the chunk that comes next is read to. */
  MemorySegment chunkTarget() {
    return reader.readTarget(Objects.requireNonNull(chunk));
  }

  /** Keeps what lies at {@code address} and above on disk; false if it is gone already. */
  boolean pin(long address) {
    if (pinned == NOTHING) {
      pinned = log.holds().pinBriefly();
    }
    return pinned <= address;
  }

  /** Keeps compaction from the chunks that follow, until the work is done. */
  void beginUnpublished() {
    unpublished = log.largeWrites().beginUnpublished();
  }

  /** Gives back what reading the old value has taken. */
  void releaseOldValue() {
    oldValue = give(oldValue);
    chunk = give(chunk);
    if (pinned != NOTHING) {
      long begin = pinned;
      pinned = NOTHING;
      log.holds().unpinBrief(begin);
    }
  }

  /** What was made is now what the next is made from. */
  void newValueIsOld() {
    releaseOldValue();
    oldValue = newValue;
    newValue = null;
  }

  /** The new value is in chunks. */
  void releaseNewValue() {
    newValue = give(newValue);
  }

  /** Gives all back; the operation is over. */
  void release() {
    waits = 0;
    capacityMissed = 0;
    goal = Goal.NONE;
    giveBack();
  }

  /** Gives back what was borrowed and forgets what was made. */
  void giveBack() {
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

  /** Whether the log was truncated above the first chunk: what was made has expired. */
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
