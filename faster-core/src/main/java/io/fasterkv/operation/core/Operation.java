package io.fasterkv.operation.core;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.operation.version.AttemptVersion;
import io.fasterkv.operation.version.Region;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An operation in progress: what its caller wants, how far it has got, and the buffers it uses. A
 * session has one for its current operation and one for each pending one; they are reused. Only one
 * thread at a time accesses it; the session's queue passes a pending one from the device's thread
 * to the session's.
 */
public final class Operation<I, O, C> extends Request<I, O, C> implements RecordView {
  /** The progress of an operation. */
  public enum Phase {
    /** It searches for the newest record, starting at the index. */
    SEARCH,
    /** The newest record was read from disk and is in the disk buffer. */
    FOUND_ON_DISK,
    /** The chain on disk has no value for the key. */
    ABSENT_ON_DISK,
    /** The chunks of a large value are being read. */
    CHUNKS,
    /** It waits for scratch memory and then searches for the newest record. */
    WAITING
  }

  static final long NOTHING = -1;

  private final Engine engine;

  public final ByteSpan value = new ByteSpan();
  public final ByteSpan newValue = new ByteSpan();
  public final IndexEntry entry = new IndexEntry();
  public final AttemptVersion version = new AttemptVersion();

  /** The merged part of a value that includes deltas. */
  public final DeltaFold fold;

  public Phase phase = Phase.SEARCH;

  /** The result of a read or an RMW of a {@code long}. */
  public long longOutput;

  public Status status = Status.NOT_FOUND;

  /** The record that the user's functions see next: the key's newest one, or a new one. */
  public long recordAddress = Address.NONE;

  /** The region in which its key was found; not set by the fast path, which counts for itself. */
  public Region region = Region.NONE;

  /** Length of the record allocated last, or of its value if that is large. */
  public long madeBytes;

  /** The record that is being published, until it is known whether it was published. */
  long maybePublished = Address.NONE;

  /** Offset of the record that {@code RecordLatch} holds for the operation, or {@link #NOTHING}. */
  long heldRecord = NOTHING;

  /** The state of the held record before it was latched. */
  public long heldState;

  /** The bits that the held record's first word gets when it is released. */
  public long heldBits;

  /**
   * Length of the record that it has replaced or deleted, or the capacity that a read has
   * abandoned; or {@link SessionCounters#UNKNOWN_BYTES}.
   */
  public long endedBytes = SessionCounters.UNKNOWN_BYTES;

  /** Its search on disk. */
  public final DiskRead disk = new DiskRead();

  /** The newest record of the chain when the search began: everything below it was examined. */
  public long searchedFrom = Address.NONE;

  /**
   * The log's begin address when the search began: if it has moved since, records may have moved
   * too.
   */
  public long searchedDownTo = Address.NONE;

  /**
   * Records at or above this address, which the operation's user has pinned, can be read even below
   * the log's begin address.
   */
  public long pinnedBegin = Long.MAX_VALUE;

  /** Whether the user reads records one by one and merges none. */
  public boolean takesVersions() {
    return pinnedBegin != Long.MAX_VALUE;
  }

  /** The state of the record whose value was copied last. */
  public long valueState;

  /** What is known about a large value; null if none was met. */
  public @Nullable LargeWork large;

  /** Takes its first buffers from the pool; {@link #close} returns them. */
  public Operation(Engine engine) {
    super(engine);
    this.engine = engine;
    fold = new DeltaFold(engine, key, keySpan);
    // Last, since nothing would return the buffers if an allocation on the heap failed after it.
    takeBuffers();
    try {
      fold.takeBuffers();
    } catch (Throwable e) {
      giveBuffers();
      throw e;
    }
  }

  /** Creates an operation for an epoch user, which is closed if there is no memory for it. */
  public static Operation<Void, Void, Void> beside(EpochUser user, Engine engine) {
    try {
      return new Operation<>(engine);
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  /** Bytes that an operation takes from the pool at first. */
  public static int firstBytes(Engine engine) {
    return ownBytes(engine) + (engine.merge() == null ? 0 : DeltaFold.FIRST_BYTES);
  }

  /** Copies the request of another operation, which must not change meanwhile. */
  public void ask(Operation<I, O, C> other) {
    copy(other);
    version.accepted(other.version.acceptedIn());
    version.counted();
  }

  /** The newest record of the key, which a search on disk has found. */
  public long newestAddress() {
    return fold.isOpen() ? fold.newestAddress() : disk.address;
  }

  /** The record with the key that a search has found; at offset 0. */
  public MemorySegment found() {
    return fold.isOpen() ? fold.value() : diskRecord();
  }

  /**
   * Continues the search for the newest record at {@code address} on disk. If the log's begin
   * address has passed that address since it was read, the operation must retry.
   */
  public Step readDisk(long address, long beginAddress) {
    fold.reset();
    return foldDisk(address, beginAddress);
  }

  /** Like {@link #readDisk}, to find more of the value whose newest record is in the fold. */
  public Step foldDisk(long address, long beginAddress) {
    searchedFrom = entry.address();
    searchedDownTo = beginAddress;
    disk.address = address;
    if (address < engine.log().beginAddress()) {
      fold.reset();
      return Step.RETRY;
    }
    return Step.READ_DISK;
  }

  @Override
  public long address() {
    return recordAddress;
  }

  @Override
  public long version() {
    return version.of(engine.versions().state());
  }

  public Step end(Status ended) {
    status = ended;
    return Step.DONE;
  }

  /** Drops the references to the caller's objects. */
  public void clear() {
    endStarvation();
    forgetRequest();
    maybePublished = Address.NONE;
    disk.failure = null;
    version.clear();
    fold.reset();
    value.release();
    newValue.release();
    if (large != null) {
      large.release();
    }
  }

  /** Returns the buffers. */
  public void close() {
    try {
      clear();
    } finally {
      giveBuffers();
      fold.close();
    }
  }
}
