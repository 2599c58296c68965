package io.fasterkv.compaction;

import io.fasterkv.log.TailBrake;
import io.fasterkv.operation.ChainSteps.Growth;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/**
 * Keeps the log within what its live bytes allow, see {@link HeldShare#mayBeLong}: twice as much,
 * or less if it is held, and twice the log's memory besides. What is live is at least what a pass
 * has found to be, and what operations have added since that pass began: the bytes of new records,
 * less as much as can have ended, see {@link Growth}. So a load of new keys is not held back, since
 * no pass could gain from it; one that overwrites is, to the pace of compaction. While a pass is
 * under way, what is live is also at least what it has found so far. A pass beside writers finds
 * less than there is, since what they replace is dead when it comes by; so what was known before
 * counts on, as far as that explains the difference.
 *
 * <p>If a pass ends with the log still too long, and nobody has written meanwhile, writers wait for
 * the next, which then finds all that is to be dropped. Should that not do, then what is in the way
 * is not for compaction to drop, as a large value that is being written is not: writers go on,
 * until a pass finds more to be live than was known.
 *
 * <p>Its lock is held for sums only: operations that ask for the limit wait for nothing else.
 */
final class WriteBrake {
  private final TailBrake brake;
  private final Supplier<Growth> growth;
  private final long memoryBytes;
  private final boolean isUsed;
  private final LongUnaryOperator mayBeLong;

  /** What was live at {@link #since}, at least. */
  private long liveBytes;

  private Growth since;

  /** What was there when the pass that is under way began. */
  private Growth atBegin;

  /** What that pass has found to be live. */
  private long foundBytes;

  /** What is live was looked at during that pass: what it finds says no more. */
  private boolean isCorrected;

  private boolean wasTooLong;
  private boolean isLetGo;

  /**
   * @param isUsed false for a store whose owner sets the pace of compaction
   * @param logBytes how long the log is now; half of it counts as live until the first pass
   * @param mayBeLong how long the log may be for so many live bytes; asked under a lock
   */
  WriteBrake(
      TailBrake brake,
      Supplier<Growth> growth,
      long memoryBytes,
      boolean isUsed,
      long logBytes,
      LongUnaryOperator mayBeLong) {
    this.brake = brake;
    this.growth = growth;
    this.memoryBytes = memoryBytes;
    this.isUsed = isUsed;
    this.mayBeLong = mayBeLong;
    liveBytes = logBytes / 2;
    since = growth.get();
    atBegin = since;
    brake.askForLimit(this::limit);
    limit();
  }

  /** A pass begins. */
  synchronized void begins() {
    atBegin = growth.get();
    foundBytes = 0;
    isCorrected = false;
  }

  /** Notes how many live bytes the pass that is under way has found. */
  synchronized void found(long bytes) {
    isLetGo &= bytes <= live();
    foundBytes = bytes;
    limit();
  }

  /**
   * A pass has ended.
   *
   * @param leastBytes how much of the log as it was when it began is live, as far as can be told
   * @param mostBytes that, and all it did not look at
   * @param logBytes how long the log is now
   */
  synchronized void passed(long leastBytes, long mostBytes, long logBytes) {
    // What was replaced during the pass was not found, and was live when it began.
    Growth now = growth.get();
    long most = mostBytes + now.lostSince(atBegin);
    if (!isCorrected) {
      liveBytes = Math.clamp(liveBytes + atBegin.since(since), leastBytes, most);
      since = atBegin;
    }
    foundBytes = 0;
    // Who could write meanwhile has made it so long, and is not to be let go.
    boolean isTooLong = logBytes > allowed() && now.madeBytes() == atBegin.madeBytes();
    isLetGo = isTooLong && wasTooLong;
    wasTooLong = isTooLong && !wasTooLong;
    limit();
  }

  /** Notes how much is live now, as a sample says. */
  synchronized void sampled(long bytes) {
    liveBytes = Math.max(live(), bytes);
    since = growth.get();
    limit();
  }

  /** Notes that no more than so much is live, as a sample says. */
  synchronized void isAtMost(long bytes) {
    if (bytes < live()) {
      liveBytes = bytes;
      foundBytes = Math.min(foundBytes, bytes);
      since = growth.get();
      isCorrected = true;
      limit();
    }
  }

  /** The head of the log was dropped, whatever it held. */
  synchronized void truncated(long logBytes) {
    liveBytes = Math.min(liveBytes, logBytes);
    foundBytes = Math.min(foundBytes, logBytes);
    since = growth.get();
    atBegin = since;
    limit();
  }

  /** Notes how many bytes that were live a pass has dropped, which was no session's doing. */
  synchronized void expired(long bytes) {
    // Below zero, too: what was made since the last pass is not in it, and may be what has expired.
    liveBytes -= bytes;
    limit();
  }

  /** Lets writers go, until a pass tells more; for good if the store is closing. */
  synchronized void letGo() {
    isLetGo = true;
    limit();
  }

  /** How long the log may be now; writers do not ask again below that. */
  private synchronized long limit() {
    long bytes = isUsed && !isLetGo ? allowed() : Long.MAX_VALUE;
    brake.allow(bytes);
    return bytes;
  }

  private long allowed() {
    return mayBeLong.applyAsLong(Math.max(live(), memoryBytes)) + 2 * memoryBytes;
  }

  /** How many bytes are live at least, as far as is known without looking. */
  synchronized long live() {
    return Math.max(Math.max(0, liveBytes + growth.get().leastSince(since)), foundBytes);
  }
}
