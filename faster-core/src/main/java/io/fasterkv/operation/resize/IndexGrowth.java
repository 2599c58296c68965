package io.fasterkv.operation.resize;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives the index memory when its chains outgrow their buckets, on a thread of its own. An index
 * that is no larger than necessary occupies fewer cache lines and pages, which determine the speed
 * of operations in memory.
 *
 * <p>The index has a share of the budget; what its table does not take of it is spare. An index
 * whose chains outgrow their buckets is split into at least twice as many if its spare memory has
 * room for the new table beside the old one. If it has not, these follow:
 *
 * <ol>
 *   <li>when a quarter of the overflow buckets is left, and while operations share entries since
 *       none was left, other stores that share the memory may give what the index lacks;
 *   <li>when a sixteenth is left, or a quarter if there are no others, spare memory becomes
 *       overflow buckets, a sixteenth of the table at a time;
 *   <li>if there is none, the log lends memory ({@link LogLoans}), which is then spare.
 * </ol>
 *
 * <p>The table and its spare memory, or both tables during a growth, are within the share, which is
 * part of the budget. An index whose main buckets are fixed has no share, but the log lends to it.
 */
public final class IndexGrowth implements AutoCloseable {
  /** For how long the thread does not look again after a look that gained nothing. */
  private static final long PAUSE_NANOS = 1_000_000;

  /** The time between two attempts to grow. */
  private static final long RETRY_NANOS = 10_000_000;

  /** The time between two looks at whether the log should lend, while nobody asks. */
  private static final long LOANS_NANOS = 100_000_000;

  /** An index that took no overflow bucket for so long does not need memory. */
  private static final long RECENT_NANOS = 1_000_000_000;

  /** The spare memory that an index keeps if it can double: for a growth by this factor. */
  private static final long KEPT_FACTOR = 4;

  /** At most this part of the table is added to its overflow buckets at a time. */
  private static final long OVERFLOW_SHARE = 16;

  /** Epoch slots in use by others either become free within a second or are in use for long. */
  private static final int MAX_FAILURES = 100;

  private final Engine engine;
  private final IndexResizer resizer;
  private final OffHeapArena arena;
  private final @Nullable LogLoans loans;
  private final long mostBytes;

  /**
   * The index's share of the budget; 0 if its main buckets are fixed. Rises by what is accepted or
   * lent, and falls, under the size lock, by what is released.
   */
  private final AtomicLong indexBytes;

  private final Thread thread;
  private volatile boolean isAsked;

  /** Whether an operation has taken an overflow bucket since the thread has looked. */
  private volatile boolean isTaken;

  /** When the index last took overflow buckets while few were left. */
  private volatile long neededNanos;

  /** Whether an operation's tag has shared an entry since {@link #isSharing} was asked. */
  private volatile boolean isShared;

  /** When {@link #isSharing} was last asked and a tag had shared an entry. */
  private volatile long sharedNanos;

  private volatile boolean isClosed;
  private int failures;

  /**
   * Creates a thread that {@link #start} starts.
   *
   * @param arena has the log's memory
   * @param indexBytes the index's share of the budget, in bytes; 0 if its main buckets are fixed
   * @param loans of the log; null if there are none
   * @param mostBytes up to which the budget may rise by memory of other stores
   */
  public IndexGrowth(
      Engine engine,
      IndexResizer resizer,
      OffHeapArena arena,
      long indexBytes,
      @Nullable LogLoans loans,
      long mostBytes) {
    this.engine = engine;
    this.resizer = resizer;
    this.arena = arena;
    this.indexBytes = new AtomicLong(indexBytes);
    this.loans = loans;
    this.mostBytes = mostBytes;
    neededNanos = System.nanoTime() - RECENT_NANOS;
    sharedNanos = neededNanos;
    thread = engine.log().failure().thread("faster-index-growth", this::run);
  }

  public void start() {
    engine.index().onOutgrown(this::taken);
    engine.index().onShared(this::shared);
    thread.start();
  }

  /** Ends the thread: completes a growth, and abandons a loan that waits for the log. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  /** Called repeatedly within operations. */
  private void taken() {
    if (!isTaken) {
      isTaken = true;
    }
    ask();
  }

  /** Called by each operation whose tag shares an entry. */
  private void shared() {
    if (!isShared) {
      isShared = true;
    }
  }

  private void ask() {
    if (isAsked) {
      return;
    }
    isAsked = true;
    boolean isWoken = false;
    try {
      LockSupport.unpark(thread);
      isWoken = true;
    } finally {
      if (!isWoken) {
        // The stack is exhausted: the next caller wakes the thread.
        isAsked = false;
      }
    }
  }

  /** Bytes of the share that the index has not taken. */
  long spareBytes() {
    return Math.max(0, indexBytes.get() - geometry().bytes());
  }

  /**
   * The part of {@link #spareBytes} that the index does not need: what exceeds a growth by four; if
   * it cannot grow, what exceeds what it will ask others for; 0 during a growth.
   */
  long unneededBytes() {
    if (index().sizeLock().isLocked()) {
      return 0;
    }
    IndexGeometry now = geometry();
    long spare = spareBytes();
    if (spare >= now.bytesToDouble()) {
      return Math.max(0, spare - KEPT_FACTOR * now.bytes());
    }
    return Math.max(0, spare - wantedBytes(now, spare));
  }

  /**
   * Bytes that the index lacks and others may give: 0 unless it is nearly full and fills up, or
   * operations share its entries.
   */
  long lackBytes() {
    long spare = spareBytes();
    return Math.max(0, wantedBytes(geometry(), spare) - spare);
  }

  /**
   * The spare memory that the index needs now: to double, or for more overflow buckets if it can
   * never have that much.
   */
  private long wantedBytes(IndexGeometry now, long spare) {
    boolean isSharing = isSharing();
    boolean isFillingUp = isFillingUp();
    if (indexBytes.get() == 0 || !(isFillingUp || isSharing)) {
      return 0;
    }
    long most = spare + acceptableBytes();
    if (now.bytesToDouble() <= most) {
      return now.bytesToDouble();
    }
    return isFillingUp ? Math.min(overflowBytes(now), most) : 0;
  }

  /** The memory of the overflow buckets that are added at a time. */
  private long overflowBytes(IndexGeometry now) {
    return Math.min(now.bytes() / OVERFLOW_SHARE, index().takeableBytes());
  }

  /** Bytes by which the budget and the share may rise. */
  long acceptableBytes() {
    return indexBytes.get() == 0 ? 0 : Math.max(0, mostBytes - arena.budget().limitBytes());
  }

  /** Adds up to so many bytes to the budget and the share; returns how many. */
  long accept(long most) {
    long taken = Math.min(most, acceptableBytes());
    if (taken <= 0) {
      return 0;
    }
    addSpare(taken);
    ask();
    return taken;
  }

  /** Adds bytes to the budget and the share. */
  void addSpare(long bytes) {
    arena.budget().raiseLimit(bytes);
    indexBytes.addAndGet(bytes);
  }

  /**
   * Releases at most so many spare bytes: the index will grow by less, or not at all. Returns the
   * number of bytes, by which the budget was lowered; 0 during a resize.
   */
  long releaseSpare(long most) {
    ReentrantLock size = index().sizeLock();
    if (!size.tryLock()) {
      return 0;
    }
    try {
      MemoryBudget budget = arena.budget();
      long given = Math.min(most, spareBytes());
      if (given <= 0 || !budget.tryLowerLimit(given)) {
        return 0;
      }
      indexBytes.addAndGet(-given);
      return given;
    } finally {
      size.unlock();
    }
  }

  private void run() {
    while (!isClosed) {
      if (isTaken && index().isScarce()) {
        neededNanos = System.nanoTime();
      }
      isTaken = false;
      isAsked = false;
      if ((failures > 0 || index().isOutgrown()) && !gains()) {
        pause();
      }
      await();
    }
  }

  /** Returns whether the index has more main buckets now. */
  private boolean gains() {
    boolean isGrown = succeeds(this::grows);
    return isGrown || (isInNeed() && succeeds(this::relieves));
  }

  private boolean succeeds(BooleanSupplier step) {
    try {
      return step.getAsBoolean();
    } catch (OutOfBudget | OutOfMemoryError e) {
      failed(e);
      return false;
    }
  }

  /** The next attempt first completes a growth that was interrupted. */
  private void failed(Throwable cause) {
    if (++failures == MAX_FAILURES) {
      String line =
          "the index cannot grow: attempts="
              + MAX_FAILURES
              + ", indexBytes="
              + geometry().bytes()
              + "; it gets overflow buckets";
      engine.log().failure().logger().log(Level.WARNING, line, cause);
    }
  }

  /** Splits the buckets if there is memory for it; returns whether it did. */
  private boolean grows() {
    boolean isPossible = failures > 0 || spareBytes() >= geometry().bytesToDouble();
    boolean isGrown = isPossible && resizer.refine(indexBytes::get);
    failures = 0;
    return isGrown;
  }

  /** Whether the index needs memory and can wait neither for others nor for another attempt. */
  private boolean isInNeed() {
    boolean mayWait = isToRetry() || acceptableBytes() > 0;
    return isFillingUp() && (index().isNearlyExhausted() || !mayWait);
  }

  /** Whether few overflow buckets are left, and operations take them. */
  private boolean isFillingUp() {
    return index().isScarce() && System.nanoTime() - neededNanos < RECENT_NANOS;
  }

  /** Whether operations use chains that were full; only after a growth do writes shorten them. */
  private boolean isSharing() {
    long now = System.nanoTime();
    if (isShared) {
      sharedNanos = now;
      isShared = false;
    }
    // The thread makes an index grow only if its chains have outgrown their buckets.
    boolean mayGrow = index().isShared() && index().isOutgrown();
    return mayGrow && now - sharedNanos < RECENT_NANOS;
  }

  /** Whether a growth has failed that may still succeed. */
  private boolean isToRetry() {
    return failures > 0 && failures < MAX_FAILURES;
  }

  /**
   * Adds overflow buckets, of spare memory or of what the log lends; returns whether the index has
   * more main buckets instead.
   */
  private boolean relieves() {
    return !takesSpare()
        && loans != null
        && loans.areLeft()
        && loans.areWorthIt()
        && growsBy(borrowed(loans));
  }

  /** Takes memory of the log, which is then free in the budget; returns the number of bytes. */
  private long borrowed(LogLoans from) {
    long most = Math.max(index().takeableBytes(), lackBytes());
    long bytes = from.take(most, () -> !isClosed);
    arena.release(HybridLog.MEMORY, bytes);
    return bytes;
  }

  /** Uses what was borrowed; returns whether the index has more main buckets now. */
  private boolean growsBy(long bytes) {
    if (indexBytes.get() == 0) {
      addOverflowBuckets(() -> bytes);
      return false;
    }
    indexBytes.addAndGet(bytes);
    boolean isGrown = grows();
    if (!isGrown) {
      takesSpare();
    }
    return isGrown;
  }

  /** Makes overflow buckets of some spare memory; returns whether there was any. */
  private boolean takesSpare() {
    return addOverflowBuckets(() -> Math.min(spareBytes(), overflowBytes(geometry())));
  }

  /** Returns whether there are more now. */
  private boolean addOverflowBuckets(LongSupplier bytes) {
    if (bytes.getAsLong() == 0) {
      return false;
    }
    index().sizeLock().lock();
    try {
      resizer.finish();
      return index().addOverflowBuckets(bytes.getAsLong()) > 0;
    } finally {
      index().sizeLock().unlock();
    }
  }

  /** Waits for the pause's time, however often the thread is woken. */
  private void pause() {
    long nanos = failures > 0 ? RETRY_NANOS : PAUSE_NANOS;
    long until = System.nanoTime() + nanos;
    for (long left = nanos; left > 0 && !isClosed; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** Waits until the thread is asked, or until it should look again anyway. */
  private void await() {
    if (isAsked || isClosed) {
      return;
    }
    if (isToRetry()) {
      LockSupport.parkNanos(RETRY_NANOS);
    } else if (isInNeed() && loans != null && loans.areLeft()) {
      LockSupport.parkNanos(LOANS_NANOS);
    } else {
      LockSupport.park(this);
    }
  }

  private HashIndex index() {
    return engine.index();
  }

  private IndexGeometry geometry() {
    return engine.index().newestTable().geometry();
  }
}
