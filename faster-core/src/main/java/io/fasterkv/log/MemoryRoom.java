package io.fasterkv.log;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.record.ChunkRecord;
import io.fasterkv.record.ForkRecord;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How far a log without a device may grow, and what happens then. A frame is free again when what
 * is live on its page was copied to the tail, so the last frames are not for everybody:
 *
 * <pre>
 *   closed ...... records ...... | large values, twice | forks | tombstones: a 32nd, 1 at least | compaction: 1 |
 * </pre>
 *
 * <p>Compaction takes the pages in order and packs what is live in the same order, so it needs at
 * most one new page for each page that it frees, and has it: nobody else allocates on a page that
 * it has turned to before that page comes into reach. Sessions without room come again while a pass
 * of compaction is under way or can be had, and are refused when it would be in vain, or when
 * somebody keeps the pages that it would free.
 */
public final class MemoryRoom {
  private static final long COMPACTION_PAGES = 1;

  /** The part of the memory that is reserved for tombstones; at least a page. */
  private static final long TOMBSTONE_PART = 32;

  /** A pass that gains less than this part of the memory was in vain. */
  private static final long LEAST_GAIN = 32;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final Truncation truncation;
  private final UnpublishedValues unpublished;
  private final LargeRoom large = new LargeRoom();
  private final AtomicLong forkBytes = new AtomicLong();

  /** Bytes that died, or were left over, where the tail did not move. */
  private final LongAdder deadBytes = new LongAdder();

  /** Bytes that sessions have allocated during a pass. */
  private final LongAdder takenBytes = new LongAdder();

  private volatile long bytesBeforePass;
  private volatile long deadBeforePass;
  private volatile @Nullable Thread attendant;
  private volatile boolean isWanted;
  private volatile boolean isPassing;
  private volatile @Nullable OutOfBudget failure;

  /** Whether the last pass was in vain, and what had died and been written when it began. */
  private volatile boolean wasInVain;

  private volatile long deadAfterPass;
  private volatile long tailAfterPass;

  MemoryRoom(
      PageFrames frames,
      LogMarks marks,
      TailAllocator tail,
      Truncation truncation,
      UnpublishedValues unpublished) {
    this.frames = frames;
    this.marks = marks;
    this.tail = tail;
    this.truncation = truncation;
    this.unpublished = unpublished;
  }

  /** The last page that bytes for this may be allocated on. */
  long lastPage(Claim claim) {
    return switch (claim) {
      case RECORD -> lastPage(Claim.TOMBSTONE) - tombstonePages();
      case TOMBSTONE -> lastFrame() - COMPACTION_PAGES - forkPages() - large.reservedPages();
      case FORK -> lastFrame();
    };
  }

  private long tombstonePages() {
    return Math.max(1, frames.count() / TOMBSTONE_PART);
  }

  /** How long the log may become. */
  public long capacityBytes() {
    long reserved = lastFrame() - lastPage(Claim.RECORD);
    return Math.max(0, frames.count() - reserved) * frames.pageBytes();
  }

  /** Whether the next record has room, however large it is. */
  public boolean hasFreePage() {
    return tail.page() < lastPage(Claim.RECORD);
  }

  /** The last page that compaction may allocate on. */
  long lastPageForMover() {
    return lastFrame() - forkPages();
  }

  private long lastFrame() {
    return frames.page(marks.closed()) + frames.count() - 1;
  }

  /** Called when a session finds no room; returns if the session may retry. */
  void ask(long bytes, Claim claim) {
    if (isPassing || isOnTheWay()) {
      return;
    }
    OutOfBudget failed = failure;
    Thread compactor = attendant;
    if (failed != null || compactor == null || isHeldUp() || !isWorthATry()) {
      failure = null;
      OutOfBudget full = full(bytes, claim);
      if (failed != null) {
        full.addSuppressed(failed);
      }
      throw full;
    }
    isWanted = true;
    LockSupport.unpark(compactor);
  }

  /** Compaction found no room: returns if it may come again. */
  void askForMover(long bytes) {
    if (!isOnTheWay()) {
      throw full(bytes, Claim.RECORD);
    }
  }

  /** Whether frames come free by themselves: what was dropped waits for epochs or short readers. */
  private boolean isOnTheWay() {
    return frames.page(truncation.freeUntil()) > frames.page(marks.closed());
  }

  /**
   * Whether nothing is gained by copying: cuts, scans or histories keep the first page, or a large
   * value begins there whose writer is not done, and may be the one who waits for room.
   */
  public boolean isHeldUp() {
    return truncation.isKept() || unpublished.lowest() < frames.pageEnd(marks.begin());
  }

  /** Counts bytes that have died, or were left over, although nothing was appended. */
  public void died(long bytes) {
    deadBytes.add(bytes);
  }

  /** Says that {@code thread} compacts when it is asked to. */
  public void attend(Thread thread) {
    attendant = thread;
  }

  /** Says that nobody compacts any more. */
  public void leave() {
    attendant = null;
  }

  /** Whether a session waits for room. */
  public boolean isWanted() {
    return isWanted;
  }

  /** A pass of compaction begins: who has no room waits for its end. */
  public void passBegins() {
    bytesBeforePass = recordBytes();
    deadBeforePass = deadBytes.sum();
    takenBytes.reset();
    isPassing = true;
  }

  /**
   * A pass has gone over the log, or has made room enough. Its gain is by how much the log is
   * shorter, and what sessions have written meanwhile. So passes one after another that are not in
   * vain come to an end, or sessions go on.
   */
  public void passEnded(boolean isEnough) {
    long taken = takenBytes.sum();
    long gained = bytesBeforePass - recordBytes() + taken;
    // What died meanwhile may lie where the pass had been, or above its end: it counts for the
    // next.
    deadAfterPass = deadBeforePass;
    tailAfterPass = tail.address() - taken;
    wasInVain = !isEnough && gained < leastGain();
    isWanted = false;
    isPassing = false;
  }

  /** Whether a pass is under way. */
  boolean isPassing() {
    return isPassing;
  }

  /** A session has allocated bytes during a pass. */
  void took(long bytes) {
    takenBytes.add(bytes);
  }

  private long recordBytes() {
    return tail.address() - marks.begin();
  }

  /** A pass was cut short, so nothing is known about the next. */
  public void passStopped() {
    isPassing = false;
  }

  /** No pass can be had, for want of something else than room; told to one who waits. */
  public void passFailed(OutOfBudget because) {
    failure = because;
  }

  /** Something was let go of that may have kept a pass from its gain. */
  void reconsider() {
    wasInVain = false;
  }

  /** The begin has moved. */
  void dropped() {
    large.forgetBelow(marks.begin());
  }

  /**
   * Whether another pass may gain something, or makes records mutable again, as far as is known.
   */
  public boolean isWorthATry() {
    long dead = deadBytes.sum() - deadAfterPass + tail.address() - tailAfterPass;
    return !wasInVain || dead >= leastGain() || isFrozen();
  }

  /** Whether there are read-only pages, which a pass puts in the mutable part again. */
  private boolean isFrozen() {
    return frames.page(marks.readOnly()) > frames.page(marks.begin());
  }

  private long leastGain() {
    return bytes() / LEAST_GAIN;
  }

  private long bytes() {
    return frames.count() * frames.pageBytes();
  }

  /** Keeps room for forks; false, with nothing kept, if it is not there. */
  public boolean reserveForks(long bytes) {
    forkBytes.set(bytes);
    boolean isThere = bytes == 0 || tail.page() <= lastPage(Claim.RECORD);
    if (!isThere) {
      forkBytes.set(0);
    }
    return isThere;
  }

  /** Ends {@link #reserveForks}: the shrinkage is over. */
  public void releaseForks() {
    forkBytes.set(0);
  }

  /** A fork has taken its part of what was reserved. */
  void forked() {
    forkBytes.addAndGet(-ForkRecord.BYTES);
  }

  /** The page that forks begin on has other records too. */
  private long forkPages() {
    long bytes = forkBytes.get();
    long perPage = frames.pageBytes() - ForkRecord.BYTES;
    return bytes <= 0 ? 0 : Math.ceilDiv(bytes, perPage) + 1;
  }

  LargeRoom large() {
    return large;
  }

  /** How many pages a value may take that is written with pages for itself. */
  long largePages(int keyBytes, long valueBytes) {
    return Math.ceilDiv(valueBytes, pieceBytes(keyBytes)) + 1;
  }

  /** Refuses a value that could not be moved: it needs room for itself, and twice more. */
  void checkLarge(int keyBytes, long valueBytes) {
    long pages = (frames.count() - tombstonePages() - COMPACTION_PAGES - 1) / 3;
    if (largePages(keyBytes, valueBytes) > pages) {
      throw new RecordTooLarge(
          "a value is too large for the log's memory: valueBytes="
              + valueBytes
              + ", allowed=up to "
              + Math.max(frames.pageBytes() / 2, (pages - 1) * pieceBytes(keyBytes))
              + ", logMemoryBytes="
              + bytes()
              + "; raise logMemoryBytes, split the value, or open the store with a directory");
    }
  }

  private long pieceBytes(int keyBytes) {
    return frames.pageBytes() - ChunkRecord.overheadBytes(keyBytes);
  }

  /** Where the room ends, and who waits for it. */
  @Override
  public String toString() {
    return "lastFrame="
        + lastFrame()
        + ", lastPage="
        + lastPage(Claim.RECORD)
        + ", tailPage="
        + tail.page()
        + ", freeUntil="
        + truncation.freeUntil()
        + ", givenBack="
        + truncation.givenBackUntil()
        + ", isPassing="
        + isPassing
        + ", isWanted="
        + isWanted
        + ", isWorthATry="
        + isWorthATry();
  }

  private OutOfBudget full(long bytes, Claim claim) {
    long reserved = frames.pageBytes() * (lastFrame() - lastPage(Claim.RECORD));
    boolean isDelete = claim == Claim.TOMBSTONE;
    return new OutOfBudget(
        "the log's memory is full: "
            + (isDelete ? "tombstoneBytes=" : "recordBytes=")
            + bytes
            + ", logMemoryBytes="
            + bytes()
            + ", takenBytes="
            + recordBytes()
            + ", reservedForCompaction="
            + reserved
            + ", reservedForTombstones="
            + tombstonePages() * frames.pageBytes()
            + ", keptByReaders="
            + (marks.begin() - marks.closed())
            + "; raise logMemoryBytes or memoryBytes, "
            + (truncation.isKept() ? "close cuts, scans and histories, " : "delete keys, ")
            + "call compact(), or open the store with a directory; "
            + (isDelete
                ? "the key's record is read-only since a cut, so its delete needs a tombstone;"
                    + " reads, updates in place and deletes of later records continue"
                : "reads, updates in place and deletes continue; deleting a record that a cut has"
                    + " needs room for a tombstone"));
  }
}
