package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * One operation under way: what the caller asked, how far it has come, and the buffers it works
 * with. A session has one for the operation it is in and one for each that is pending; they are
 * used over and over. One thread at a time touches it; a pending one is handed from the device's
 * thread to the session's by the session's queue.
 */
final class Operation<I, O, C> {
  /** What is to be done. */
  enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  /** Where the operation stands. */
  enum Phase {
    /** It looks for the newest record from the index on. */
    SEARCH,
    /** The newest record was read from disk and is in the disk buffer. */
    FOUND_ON_DISK,
    /** The chain on disk has no value for the key. */
    ABSENT_ON_DISK,
    /** The chunks of a large value are being read. */
    CHUNKS,
    /** It waits for scratch memory, and then looks for the newest record. */
    WAITING
  }

  /** Nobody has looked at the record, or it leads to a large value. */
  static final long UNKNOWN_BYTES = 0;

  /** Half a minute of pauses. */
  private static final int MAX_STARVATIONS = 20_000;

  private final BufferPool buffers;
  private final int bytesAtFirst;
  private final boolean hasDisk;
  private MemorySegment keyBuffer;
  private MemorySegment valueBuffer;
  private MemorySegment diskBuffer;
  private MemorySegment diskRecord;

  final KeyBytes key = new KeyBytes();
  final ByteSpan keySpan = new ByteSpan();
  final ByteSpan value = new ByteSpan();
  final ByteSpan newValue = new ByteSpan();
  final IndexEntry entry = new IndexEntry();
  final AttemptVersion version = new AttemptVersion();

  /** What is known of a value that deltas are a part of. */
  final DeltaFold fold;

  Kind kind = Kind.READ;
  Phase phase = Phase.SEARCH;
  long hash;
  @Nullable I input;
  @Nullable O output;
  @Nullable C context;
  @Nullable ByteSpan source;

  /** Input of an operation on {@code long} values, and what a read of one found. */
  long longInput;

  long longOutput;

  Status status = Status.NOT_FOUND;

  /** Where its key was found, but by the short way, which counts for itself. */
  Region region = Region.NONE;

  /** How large the record is that was allocated last, or the value if that is large. */
  long madeBytes;

  /**
   * How large the record was that it has replaced or deleted, or the room that a read has left
   * behind; or {@link #UNKNOWN_BYTES}.
   */
  long endedBytes = UNKNOWN_BYTES;

  /** Its serial number in its session, if it is pending. */
  long serial;

  /** Names the operation's read in its session's queue while it is pending. */
  int readTag = ReadQueue.NONE;

  /** The next record to look at on disk. */
  long diskAddress = Address.NONE;

  /** A search on disk ends when it gets below this. */
  long diskFloor = Address.NONE;

  /** The newest record of the chain when the search began: all below it has been looked at. */
  long searchedFrom = Address.NONE;

  /** The log's begin when the search began: if it has moved since, records may have moved too. */
  long searchedDownTo = Address.NONE;

  /** Where the next read begins, at that record or below. */
  long diskFrom;

  /** What the operation's user has pinned can be read although the log's begin has passed it. */
  long pinnedBegin = Long.MAX_VALUE;

  /** Whether the user looks at records one by one, and merges none. */
  boolean takesVersions() {
    return pinnedBegin != Long.MAX_VALUE;
  }

  /** How many bytes to read next. */
  int diskBytes;

  /** Whether it is read from disk on its caller's thread, and not by a queue. */
  boolean isReadNow;

  /** The state of the record whose value was copied last. */
  long valueState;

  /** What is known about a large value; null as long as none was met. */
  @Nullable LargeWork large;

  /** Where the end of a pending operation goes, if not to the completion callback. */
  @Nullable Promise promise;

  /** Whether a larger buffer was not to be had. */
  private boolean isStarved;

  private int starvations;

  /** Why a read from disk failed. */
  @Nullable IOException diskFailure;

  /** Takes its first buffers from the pool, which gets them back by {@link #close}. */
  Operation(Engine engine) {
    buffers = engine.buffers();
    hasDisk = !engine.log().isInMemory();
    fold = new DeltaFold(engine);
    // One piece, so that an operation gets all of its first buffers or none.
    int bytes = ownBytes(engine);
    bytesAtFirst = bytes;
    MemorySegment first = buffers.take(bytes);
    try {
      keyBuffer = first.asSlice(0, bytes / 4);
      valueBuffer = first.asSlice(bytes / 4, bytes / 4);
      diskBuffer = first.asSlice(bytes / 2, bytes / 2);
      diskRecord = diskBuffer;
      fold.takeBuffers();
    } catch (Throwable e) {
      buffers.give(first);
      throw e;
    }
  }

  /** An operation for a user who leaves the epochs if there is no room for it. */
  static Operation<Void, Void, Void> beside(EpochUser user, Engine engine) {
    try {
      return new Operation<>(engine);
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  /** What an operation takes from the pool at first. */
  static int firstBytes(Engine engine) {
    return ownBytes(engine) + (engine.merge() == null ? 0 : DeltaFold.FIRST_BYTES);
  }

  /** Half of it is for one read from disk. */
  private static int ownBytes(Engine engine) {
    return Math.max(4 * BufferPool.MIN_BYTES, 2 * engine.log().device().readUnitBytes());
  }

  /** Copies the key, so that it outlives the call and lies in native memory. */
  void setKey(ByteSpan from) {
    int length = from.length();
    // Room for the zeros that pad a key to a multiple of 8.
    keyBuffer = atLeast(keyBuffer, length + Long.BYTES);
    key.copy(from.memory(), from.offset(), length, keyBuffer);
    keySpan.wrap(keyBuffer, 0, length, length);
  }

  /** Takes a {@code long} as the key. */
  void setKey(long from) {
    Words.storePlain(keyBuffer, 0, from);
    key.set(keyBuffer, Long.BYTES);
  }

  /** A copy of the key's bytes on the heap. */
  byte[] keyCopy() {
    return key.memory().asSlice(0, key.length()).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Asks the same as another one does, that is kept as it is meanwhile. */
  void ask(Operation<I, O, C> other) {
    int length = other.key.length();
    keyBuffer = atLeast(keyBuffer, length + Long.BYTES);
    key.copy(other.key.memory(), 0, length, keyBuffer);
    keySpan.wrap(keyBuffer, 0, length, length);
    hash = other.hash;
    input = other.input;
    output = other.output;
    context = other.context;
    longInput = other.longInput;
    version.accepted(other.version.acceptedIn());
    version.counted();
  }

  /** Room for a copy of a value. */
  MemorySegment valueBuffer(int bytes) {
    valueBuffer = atLeast(valueBuffer, bytes);
    return valueBuffer;
  }

  /** Where records from disk are read to. */
  MemorySegment diskBuffer(int bytes) {
    diskBuffer = atLeast(diskBuffer, bytes);
    return diskBuffer;
  }

  /** Notes that the record lies at {@code offset} of what was read. */
  MemorySegment setDiskRecord(long offset, long bytes) {
    diskRecord = diskBuffer.asSlice(offset, bytes);
    return diskRecord;
  }

  /** The record that was read last, from its first byte on. */
  MemorySegment diskRecord() {
    return diskRecord;
  }

  /** What a search that has found the key ended with; shaped like a record, at offset 0. */
  MemorySegment found() {
    return fold.isOpen() ? fold.value(this) : diskRecord;
  }

  /**
   * Notes that the search for the newest record goes on at {@code address}, which is on disk. Where
   * there is none, the log's begin has passed the address since it was read: the operation comes
   * again.
   */
  Step readDisk(long address, long beginAddress) {
    fold.reset();
    return foldDisk(address, beginAddress);
  }

  /** As {@link #readDisk}, to find more of the value whose newest record is in the fold. */
  Step foldDisk(long address, long beginAddress) {
    searchedFrom = entry.address();
    searchedDownTo = beginAddress;
    diskAddress = address;
    return hasDisk ? Step.READ_DISK : Step.RETRY;
  }

  Step end(Status ended) {
    status = ended;
    return Step.DONE;
  }

  /** Lets go of what the caller gave. */
  void clear() {
    isStarved = false;
    starvations = 0;
    input = null;
    output = null;
    context = null;
    source = null;
    diskFailure = null;
    promise = null;
    version.clear();
    fold.reset();
    keySpan.release();
    value.release();
    newValue.release();
    if (large != null) {
      large.release();
    }
  }

  /**
   * Whether the operation may come again because it did not get a larger buffer, and others that
   * are pending will give theirs back; not for ever.
   */
  boolean comesAgainForBuffer() {
    boolean mayComeAgain = isStarved && starvations < MAX_STARVATIONS;
    starvations += isStarved ? 1 : 0;
    isStarved = false;
    return mayComeAgain;
  }

  /** Whether it has taken more from the pool than at first. */
  boolean isGrown() {
    return keyBuffer.byteSize() + valueBuffer.byteSize() + diskBuffer.byteSize() > bytesAtFirst;
  }

  /** Gives the buffers back. */
  void close() {
    try {
      clear();
    } finally {
      buffers.give(keyBuffer);
      buffers.give(valueBuffer);
      buffers.give(diskBuffer);
      fold.close();
    }
  }

  private MemorySegment atLeast(MemorySegment buffer, int bytes) {
    if (buffer.byteSize() >= bytes) {
      return buffer;
    }
    isStarved = true;
    MemorySegment larger = buffers.take(bytes);
    isStarved = false;
    buffers.give(buffer);
    return larger;
  }
}
