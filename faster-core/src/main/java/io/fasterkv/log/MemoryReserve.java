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
 * Limits how far a log without a device may grow, and decides what happens at the limit. A frame
 * becomes free when the live records on its page were copied to the tail, so the last frames are
 * reserved:
 *
 * <pre>
 *   closed .. records .. | large values, twice | forks | stopped run: 1 | tombstones | compaction: 1 |
 * </pre>
 *
 * <p>Tombstones have a 32nd of the pages, at least one. A compaction run that a reader stops has
 * copied up to a page of records and has freed nothing for them. That page has a reserve of its
 * own, and a run takes no more while readers keep pages, so the reserve for tombstones is intact
 * whenever a reader begins.
 *
 * <p>Compaction takes the pages in order and packs live records in the same order, so it needs at
 * most one new page for each page that it frees. It has that page, because no other thread
 * allocates on a page that compaction has turned to before the page comes within that thread's
 * limit. Sessions without room retry while a compaction run is under way or can be started. They
 * fail when a run would gain nothing, or when readers keep the pages that it would free.
 */
public final class MemoryReserve {
  private static final long COMPACTION_PAGES = 1;

  /** Pages that a run may have copied when a reader stops it. */
  private static final long STOPPED_PASS_PAGES = 1;

  /** The part of the memory that is reserved for tombstones; at least one page. */
  private static final long TOMBSTONE_PART = 32;

  /** A run that gains less than this part of the memory counts as in vain. */
  private static final long LEAST_GAIN = 32;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final Truncation truncation;
  private final UnpublishedValues unpublished;
  private final LargeRoom large = new LargeRoom();
  private final AtomicLong forkBytes = new AtomicLong();

  /** Bytes that died or were left unused without the tail moving. */
  private final LongAdder deadBytes = new LongAdder();

  /** Bytes that sessions have allocated during a run. */
  private final LongAdder takenBytes = new LongAdder();

  private volatile long bytesBeforeRun;
  private volatile long deadBeforeRun;
  private volatile @Nullable Thread compactorThread;
  private volatile boolean isWanted;
  private volatile boolean isRunning;
  private volatile @Nullable OutOfBudget failure;

  /**
   * Whether the last run was in vain; the fields below have the dead bytes and the tail at its
   * start.
   */
  private volatile boolean wasFruitless;

  private volatile long deadAfterRun;
  private volatile long tailAfterRun;

  MemoryReserve(LogParts parts) {
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    truncation = parts.truncation();
    unpublished = parts.unpublished();
  }

  /** The last page on which this purpose may allocate. */
  long lastPage(Claim claim) {
    return switch (claim) {
      case RECORD -> lastPage(Claim.TOMBSTONE) - tombstonePages() - STOPPED_PASS_PAGES;
      case TOMBSTONE -> lastFrame() - COMPACTION_PAGES - forkPages() - large.reservedPages();
      case FORK -> lastFrame();
    };
  }

  private long tombstonePages() {
    return Math.max(1, frames.count() / TOMBSTONE_PART);
  }

  /** Maximum length of the log. */
  public long capacityBytes() {
    long reserved = lastFrame() - lastPage(Claim.RECORD);
    return Math.max(0, frames.count() - reserved) * frames.pageBytes();
  }

  /** Whether there is room for the next record, whatever its length. */
  public boolean hasFreePage() {
    return tail.page() < lastPage(Claim.RECORD);
  }

  /** The last page on which compaction may allocate. */
  long lastPageForMover() {
    long kept = truncation.isKept() ? COMPACTION_PAGES + tombstonePages() : 0;
    return lastFrame() - forkPages() - kept;
  }

  private long lastFrame() {
    return frames.page(marks.closed()) + frames.count() - 1;
  }

  /** Called when a session finds no room; returns if the session may retry. */
  void requestRoom(long bytes, Claim claim) {
    if (isRunning || willBeFree()) {
      return;
    }
    OutOfBudget failed = failure;
    Thread compactor = compactorThread;
    if (failed != null || compactor == null || isHeldUp() || !mayGain()) {
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

  /** Called when compaction finds no room; returns if it may retry. */
  void requestMover(long bytes) {
    if (!willBeFree()) {
      throw full(bytes, Claim.RECORD);
    }
  }

  /**
   * Whether frames will become free without compaction: their pages were dropped, and only epochs
   * or brief pins are still in the way.
   */
  private boolean willBeFree() {
    return frames.page(truncation.freeUntil()) > frames.page(marks.closed());
  }

  /**
   * Whether compaction cannot gain anything: cuts, scans or histories keep the first page, or a
   * large value begins there whose writer is not done and may itself be waiting for room.
   */
  public boolean isHeldUp() {
    return truncation.isKept() || unpublished.lowest() < frames.pageEnd(marks.begin());
  }

  /** Counts bytes that have died or were left unused although nothing was appended. */
  void died(long bytes) {
    deadBytes.add(bytes);
  }

  /** Registers the thread that compacts on request. */
  public void setCompactor(Thread thread) {
    compactorThread = thread;
  }

  /** Called when the thread that compacts ends. */
  public void leave() {
    compactorThread = null;
  }

  /** Whether a session is waiting for room. */
  public boolean isWanted() {
    return isWanted;
  }

  /** Called when a compaction run begins: sessions without room wait for its end. */
  public void runBegins() {
    bytesBeforeRun = recordBytes();
    deadBeforeRun = deadBytes.sum();
    takenBytes.reset();
    isRunning = true;
  }

  /**
   * Called when a run has covered the log or has made enough room. Its gain is the reduction of the
   * log's length plus what sessions have written meanwhile. So a sequence of runs that are not in
   * vain either ends or lets sessions continue.
   */
  public void runEnded(boolean isEnough) {
    long taken = takenBytes.sum();
    long gained = bytesBeforeRun - recordBytes() + taken;
    // Bytes that died during the run may be behind its position or above its end, so they count for
    // the next run.
    deadAfterRun = deadBeforeRun;
    tailAfterRun = tail.address() - taken;
    wasFruitless = !isEnough && gained < leastGain();
    isWanted = false;
    isRunning = false;
  }

  /** Whether a run is under way. */
  boolean isRunning() {
    return isRunning;
  }

  /** Called when a session has allocated bytes during a run. */
  void took(long bytes) {
    takenBytes.add(bytes);
  }

  private long recordBytes() {
    return tail.address() - marks.begin();
  }

  /** Called when a run was cut short, which tells nothing about the next one. */
  public void runStopped() {
    isRunning = false;
  }

  /**
   * Called when a run cannot start for a reason other than room; a waiting session receives the
   * exception.
   */
  public void runFailed(OutOfBudget because) {
    failure = because;
  }

  /** Called when a pin that may have limited a run's gain was released. */
  void reconsider() {
    wasFruitless = false;
  }

  /** Called when the begin address has moved. */
  void dropped() {
    large.forgetBelow(marks.begin());
  }

  /** Whether another run may gain something or makes records mutable again, as far as is known. */
  public boolean mayGain() {
    long dead = deadBytes.sum() - deadAfterRun + tail.address() - tailAfterRun;
    return !wasFruitless || dead >= leastGain() || isFrozen();
  }

  /** Whether there are read-only pages, whose records a run moves back to the mutable region. */
  private boolean isFrozen() {
    return frames.page(marks.readOnly()) > frames.page(marks.begin());
  }

  private long leastGain() {
    return bytes() / LEAST_GAIN;
  }

  private long bytes() {
    return frames.count() * frames.pageBytes();
  }

  /** Reserves room for forks; returns false, and reserves nothing, if there is not enough. */
  boolean reserveForks(long forks) {
    long bytes = forks * ForkRecord.BYTES;
    forkBytes.set(bytes);
    boolean hasRoom = bytes == 0 || tail.page() <= lastPage(Claim.RECORD);
    if (!hasRoom) {
      forkBytes.set(0);
    }
    return hasRoom;
  }

  /** Ends {@link #reserveForks}: the shrinkage is over. */
  void releaseForks() {
    forkBytes.set(0);
  }

  /** Called when a fork has taken its part of the reserve. */
  void forked() {
    forkBytes.addAndGet(-ForkRecord.BYTES);
  }

  /** One page more than the forks fill, since the page they begin on has other records too. */
  private long forkPages() {
    long bytes = forkBytes.get();
    long perPage = frames.pageBytes() - ForkRecord.BYTES;
    return bytes <= 0 ? 0 : Math.ceilDiv(bytes, perPage) + 1;
  }

  LargeRoom large() {
    return large;
  }

  /** Maximum number of pages of a value that is written to pages of its own. */
  long largePages(int keyBytes, long valueBytes) {
    return Math.ceilDiv(valueBytes, pieceBytes(keyBytes)) + 1;
  }

  /** Throws if a value could not be moved: it needs room for itself, and twice more. */
  void checkLarge(int keyBytes, long valueBytes) {
    long reserved = tombstonePages() + COMPACTION_PAGES + STOPPED_PASS_PAGES;
    long pages = (frames.count() - reserved - 1) / 3;
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

  /** The limits and waiting sessions, for messages. */
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
        + truncation.releasedUntil()
        + ", isRunning="
        + isRunning
        + ", isWanted="
        + isWanted
        + ", mayGain="
        + mayGain();
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
