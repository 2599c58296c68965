package io.fasterkv.compaction;

import io.fasterkv.log.TailLimit;
import io.fasterkv.operation.version.SessionCounters.Growth;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/**
 * Keeps the log within the length that its live bytes allow, see {@link PinnedLogLimit#mayBeLong}:
 * twice as much, or less if it is held, plus twice the most memory that the log has had. The live
 * bytes are at least what a run has found plus what operations have added since that run began: the
 * bytes of new records less the bytes that may have died, see {@link Growth}. So a load of new keys
 * is not throttled, since no run could gain from it; overwrites are throttled to the speed of
 * compaction. During a run, the live bytes are also at least what it has found so far. A run with
 * concurrent writers finds fewer than there are, since what they replace is dead when the run
 * reaches it; so the earlier number stays in effect as far as that explains the difference.
 *
 * <p>If a run ends with the log still too long, and there were no writes meanwhile, writers wait
 * for the next run, which then finds everything that can be dropped. If that is not enough,
 * compaction cannot drop what is in the way, for example a large value that is being written;
 * writers then continue until a run finds more live bytes than were known.
 *
 * <p>Its lock is held only for arithmetic, so operations that ask for the limit wait for nothing
 * else.
 */
final class WriteThrottle {
  private final TailLimit tailLimit;
  private final Supplier<Growth> growth;
  private final LongSupplier memoryBytes;
  private final boolean isUsed;
  private final LongUnaryOperator mayBeLong;

  /** The most memory that the log has had. */
  private long mostMemoryBytes;

  /** Lower bound of the live bytes at {@link #since}. */
  private long liveBytes;

  private Growth since;

  /** The growth when the current run began. */
  private Growth atBegin;

  /** Live bytes that the current run has found. */
  private long foundBytes;

  /**
   * Whether a sample corrected the live bytes during the current run, so that its result is not
   * needed.
   */
  private boolean isCorrected;

  private boolean wasTooLong;
  private boolean isReleased;

  /**
   * @param memoryBytes the log's memory, which may change
   * @param isUsed false for a store whose owner limits the speed of compaction
   * @param logBytes length of the log now; half of it counts as live until the first run
   * @param mayBeLong the allowed length for a number of live bytes; called under a lock
   */
  WriteThrottle(
      TailLimit tailLimit,
      Supplier<Growth> growth,
      LongSupplier memoryBytes,
      boolean isUsed,
      long logBytes,
      LongUnaryOperator mayBeLong) {
    this.tailLimit = tailLimit;
    this.growth = growth;
    this.memoryBytes = memoryBytes;
    this.isUsed = isUsed;
    this.mayBeLong = mayBeLong;
    liveBytes = logBytes / 2;
    since = growth.get();
    atBegin = since;
    tailLimit.setLimit(this::limit);
    limit();
  }

  /** Called when a run begins. */
  synchronized void begins() {
    atBegin = growth.get();
    foundBytes = 0;
    isCorrected = false;
  }

  /** Notes the live bytes that the current run has found so far. */
  synchronized void found(long bytes) {
    isReleased &= bytes <= live();
    foundBytes = bytes;
    limit();
  }

  /**
   * Notes the end of a run.
   *
   * @param leastBytes lower bound of the live bytes in the log as it was when the run began
   * @param mostBytes the same, plus everything the run did not read
   * @param logBytes length of the log now
   */
  synchronized void runEnded(long leastBytes, long mostBytes, long logBytes) {
    // Records replaced during the run were not found, but were live when it began.
    Growth now = growth.get();
    long most = mostBytes + now.lostSince(atBegin);
    if (!isCorrected) {
      liveBytes = Math.clamp(liveBytes + atBegin.since(since), leastBytes, most);
      since = atBegin;
    }
    foundBytes = 0;
    // If writers could write during the run, they made the log so long, and continue to be
    // throttled.
    boolean isTooLong = logBytes > allowed() && now.madeBytes() == atBegin.madeBytes();
    isReleased = isTooLong && wasTooLong;
    wasTooLong = isTooLong && !wasTooLong;
    limit();
  }

  /** Notes a sample's lower bound of the live bytes. */
  synchronized void sampled(long bytes) {
    liveBytes = Math.max(live(), bytes);
    since = growth.get();
    limit();
  }

  /** Notes a sample's upper bound of the live bytes. */
  synchronized void isAtMost(long bytes) {
    if (bytes < live()) {
      liveBytes = bytes;
      foundBytes = Math.min(foundBytes, bytes);
      since = growth.get();
      isCorrected = true;
      limit();
    }
  }

  /** Called when the head of the log was dropped, live or not. */
  synchronized void truncated(long logBytes) {
    liveBytes = Math.min(liveBytes, logBytes);
    foundBytes = Math.min(foundBytes, logBytes);
    since = growth.get();
    atBegin = since;
    limit();
  }

  /** Notes live bytes that a run has dropped as expired; sessions have not counted these. */
  synchronized void expired(long bytes) {
    // May become negative: it excludes what was written since the last run, which may be what has
    // expired.
    liveBytes -= bytes;
    limit();
  }

  /** Stops throttling writers until a run has new information; for good if the store is closing. */
  synchronized void release() {
    isReleased = true;
    limit();
  }

  /** The current limit of the log's length; writers do not ask again below it. */
  private synchronized long limit() {
    long bytes = isUsed && !isReleased ? allowed() : Long.MAX_VALUE;
    tailLimit.allow(bytes);
    return bytes;
  }

  private long allowed() {
    // If it fell with the log's memory, writers would wait at once.
    mostMemoryBytes = Math.max(mostMemoryBytes, memoryBytes.getAsLong());
    return mayBeLong.applyAsLong(Math.max(live(), mostMemoryBytes)) + 2 * mostMemoryBytes;
  }

  /** Lower bound of the live bytes, as far as known without a sample. */
  synchronized long live() {
    return Math.max(Math.max(0, liveBytes + growth.get().leastSince(since)), foundBytes);
  }
}
