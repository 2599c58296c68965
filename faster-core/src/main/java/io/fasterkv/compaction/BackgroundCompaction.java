package io.fasterkv.compaction;

import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.statistics.CompactionStats;
import io.fasterkv.device.restore.OriginUnreadable;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.core.Engine;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the log small, on a thread of its own. A compaction run begins when {@link RunTrigger} says
 * so and a {@link LiveEstimator} agrees. It covers the log as it was then, a piece at a time, no
 * faster than its {@link Pace}, and frees each piece before it takes the next. If a checkpoint
 * keeps the storage that would be freed, a run goes as far as {@link PinnedLogLimit} allows and
 * then waits for the next checkpoint. {@link WriteThrottle} limits what is written meanwhile. Where
 * records expire, a run over the head of the log also begins when {@link ExpirySample} says so.
 * When writes have ended, a log that is too long for its readers gets one more run.
 */
public final class BackgroundCompaction implements AutoCloseable {
  private static final long PIECES = 16;

  /** A run over less than this part of the log is not worth its fixed cost. */
  private static final long LEAST_SHARE = 32;

  /** A log without appends is at most so many times as long as its live bytes. */
  private static final long MOST_TIMES = 2;

  private static final long LOOK_NANOS = 10_000_000;
  private static final long REFUSED_NANOS = 1_000_000_000;

  private final Engine engine;
  private final Compactor compactor;
  private final RunTrigger trigger;
  private final WriteThrottle throttle;
  private final LiveEstimator estimator;
  private final @Nullable ExpirySample sample;
  private final long bytesPerSecond;
  private final LongConsumer park;
  private final Logger logger;
  private final CompactionScheduler scheduler;

  /** Detects that hardly any records are appended, values or not. */
  private final WriteQuiet appends;

  private final Thread thread;
  private String refusal = "";

  /** Expired bytes that were subtracted from the live bytes so far. */
  private long notedExpiredBytes;

  /** The tail when the log's length was last checked without appends, or when it was opened. */
  private long checkedTail;

  /** Whether the log was recovered, so that its live bytes are a guess. */
  private boolean isGuessed;

  private volatile boolean isClosed;
  private volatile @Nullable Throwable failure;

  /**
   * Creates a thread that {@link #start} starts. A log smaller than its memory is not compacted.
   */
  public BackgroundCompaction(Engine engine, Compactor compactor, StoreConfig config) {
    this(engine, compactor, config, LockSupport::parkNanos);
  }

  /** With another way to pause between two checks of the log, in nanoseconds. */
  BackgroundCompaction(Engine engine, Compactor compactor, StoreConfig config, LongConsumer park) {
    this.engine = engine;
    this.park = park;
    logger = config.logger();
    trigger = new RunTrigger(engine.log().room()::wholeBytes);
    LongSupplier memoryBytes = engine.log().quota()::memoryBytes;
    PinnedLogLimit limit = new PinnedLogLimit(engine.log(), trigger, memoryBytes);
    bytesPerSecond = config.compactionBytesPerSecond();
    throttle =
        new WriteThrottle(
            engine.log().tailLimit(),
            engine.sessionCounters()::growth,
            memoryBytes,
            bytesPerSecond == 0,
            size(),
            limit::mayBeLong);
    this.compactor = compactor;
    estimator = new LiveEstimator(engine, compactor, trigger, throttle);
    WriteQuiet quiet =
        new WriteQuiet(() -> engine.sessionCounters().growth().madeBytes(), config.pageBytes());
    scheduler = new CompactionScheduler(engine.log(), limit, quiet, this::lowerEstimate);
    appends = new WriteQuiet(engine.log()::tailAddress, config.pageBytes());
    checkedTail = engine.log().tailAddress();
    KeepRule rule = config.keepRule();
    sample =
        rule == null
            ? null
            : new ExpirySample(engine, rule, () -> compactor.stats().expiredBytes());
    isGuessed = size() > 0;
    String name = "faster-compaction-" + config.directory().getFileName();
    thread = engine.log().failure().thread(name, this::run);
  }

  public void start() {
    thread.start();
  }

  /** The failure that ended compaction; null if there is none. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Lower bound of the log's live bytes: what the last run has found, and what was added since. */
  public long liveBytes() {
    return Math.min(throttle.live(), size());
  }

  /**
   * Lower bound of the log's live bytes from a sample of what is on disk, for the store's owner,
   * where {@link #liveBytes()} is far too low.
   */
  public long sampledLiveBytes() {
    return Math.clamp(estimator.leastBytes(), liveBytes(), size());
  }

  /** Ends the thread after its current piece. */
  @Override
  public void close() {
    isClosed = true;
    throttle.release();
    OwnThread.awaitEnd(thread);
  }

  /**
   * Called when the head of the log was dropped as expired, which compaction does not count as its
   * own work.
   */
  public void truncated() {
    trigger.truncated(size());
    throttle.truncated(size());
  }

  /** Subtracts what a compaction has dropped as expired from the live bytes. */
  public synchronized void noteExpired() {
    long bytes = compactor.stats().expiredBytes();
    throttle.expired(bytes - notedExpiredBytes);
    notedExpiredBytes = bytes;
  }

  private void run() {
    try {
      while (!isClosed) {
        turn();
      }
    } catch (RuntimeException | Error e) {
      failure = e;
      throw e;
    } finally {
      throttle.release();
    }
  }

  private void turn() {
    try {
      if (isDue() && estimator.isWorthARun()) {
        runCompaction(engine.log().flushedAddress(), true);
      } else if (isExpiryDue()) {
        compactExpired();
      } else if (isTooLongForReads()) {
        compactForReads();
      } else {
        checkRecovered();
        park.accept(LOOK_NANOS);
      }
    } catch (DeviceFailed e) {
      if (!(e.getCause() instanceof OriginUnreadable)) {
        throw e;
      }
      // The log still exists at its origin, and the background fill retries too.
      refused(e);
    }
  }

  /**
   * Corrects the guess for a recovered log that fits memory, which gets no run that would tell its
   * live bytes.
   */
  private void checkRecovered() {
    HybridLog log = engine.log();
    if (isGuessed && size() <= log.room().wholeBytes() && log.device().isWhole()) {
      isGuessed = false;
      estimator.lowerGuess();
    }
  }

  /** Whether a run is due and has enough to read: not all of a log need be on disk. */
  private boolean isDue() {
    HybridLog log = engine.log();
    return log.flushedAddress() - log.beginAddress() >= leastRun()
        && trigger.isDue(size(), throttle.live(), log.pins().isHeld());
  }

  /**
   * Whether hardly anything is appended any more, and the log is longer than twice the live bytes
   * that a sample finds at most. The known live bytes may hide that: they include records that were
   * deleted after they were on disk. It is checked once for each 32nd by which sessions have
   * lengthened the log.
   */
  private boolean isTooLongForReads() {
    HybridLog log = engine.log();
    long tail = log.tailAddress();
    if (!appends.isQuiet()
        || tail - checkedTail < leastRun()
        || size() <= log.room().wholeBytes()
        || log.room().isRefused()
        || !log.device().isWhole()) {
      return false;
    }
    appends.countAgain();
    try {
      if (size() > MOST_TIMES * estimator.mostBytes()) {
        return true;
      }
      checkedTail = tail;
    } catch (OutOfBudget e) {
      // Sessions and scans are using the scratch memory now.
    }
    return false;
  }

  private void compactForReads() {
    long tail = engine.log().tailAddress();
    long movedBefore = compactor.stats().movedBytes();
    if (runCompaction(engine.log().flushedAddress(), true)) {
      // What the run has copied is no reason to check again.
      checkedTail = tail + compactor.stats().movedBytes() - movedBefore;
    }
  }

  /** A run over less of the log is not worth its fixed cost. */
  private long leastRun() {
    return Math.max(engine.log().pageBytes(), size() / LEAST_SHARE);
  }

  /**
   * Lowers the known live bytes if they are too high, and frees index entries of dropped records.
   */
  private void lowerEstimate() {
    estimator.lower();
    try {
      compactor.cleanIndex();
    } catch (OutOfBudget e) {
      // Sessions and scans are using all epoch slots now.
    }
  }

  private boolean isExpiryDue() {
    return sample != null && whileNoneRuns(sample::isDue);
  }

  /** Samples expiry while a run waits: more may have expired than should be kept. */
  private void sampleAgain() {
    if (sample != null) {
      whileNoneRuns(sample::sampleAgain);
    }
  }

  /** Runs a sample while no compaction runs; false if none could be taken. */
  private boolean whileNoneRuns(Supplier<Boolean> question) {
    try {
      return compactor.whileNoneRuns(question);
    } catch (OutOfBudget e) {
      // Sessions and scans are using the scratch memory now.
      return false;
    }
  }

  /** Compacts the expired head; first flushes what is only in memory, as far as the run goes. */
  private void compactExpired() {
    HybridLog log = engine.log();
    long until = Objects.requireNonNull(sample).dueUntil();
    try {
      if (until > log.flushedAddress()) {
        if (log.room().isRefused()) {
          // Do not freeze more: updates of frozen records copy, so the log would grow.
          park.accept(REFUSED_NANOS);
          return;
        }
        log.cuts().freeze(until);
      }
      runCompaction(until, false);
    } catch (DiskFull e) {
      // The records stay in memory and are written when there is space.
      park.accept(REFUSED_NANOS);
    }
  }

  /**
   * Compacts the log up to an address.
   *
   * @param isWhole whether that is all that can be compacted
   * @return false if it cannot go on now; the thread has paused
   */
  private boolean runCompaction(long until, boolean isWhole) {
    try {
      compact(until, isWhole);
    } catch (OutOfBudget e) {
      // Sessions and scans are using the scratch memory now; until they return it, the log grows.
      throttle.release();
      park.accept(LOOK_NANOS);
      return false;
    } catch (RecordTooLarge | OutOfAddresses e) {
      refused(e);
      return false;
    }
    return true;
  }

  /**
   * Called when compaction cannot go on: it has reached a value that it cannot move until its key
   * is written or deleted, or there are no addresses left. The log may grow meanwhile.
   */
  private void refused(StoreException cause) {
    throttle.release();
    String text = String.valueOf(cause.getMessage());
    if (!text.equals(refusal)) {
      refusal = text;
      logger.log(Level.WARNING, "compaction is paused and retries every second: cause=" + refusal);
    }
    park.accept(REFUSED_NANOS);
  }

  private void compact(long end, boolean isWhole) {
    HybridLog log = engine.log();
    long start = log.tailAddress();
    long unknownBefore = size() - throttle.live();
    CompactionStats before = compactor.stats();
    if (isWhole) {
      throttle.begins();
    }
    scheduler.begins();
    if (sample != null) {
      sample.runBegins();
    }
    Pace pace = new Pace(bytesPerSecond, () -> isClosed);
    long largest = Math.max(log.pageBytes(), (end - log.beginAddress()) / PIECES);
    while (!isClosed && log.beginAddress() + log.pageBytes() <= end) {
      long piece = scheduler.pieceBytes(largest);
      if (!mustContinue() && !scheduler.isOver(isWhole, piece, throttle.live() - expiredBytes())) {
        scheduler.waits();
        sampleAgain();
        park.accept(LOOK_NANOS);
        // A new pace, so that the pause is not made up for.
        pace = new Pace(bytesPerSecond, () -> isClosed);
        continue;
      }
      long compacted = compactor.compact(Math.min(end, log.beginAddress() + piece), pace);
      noteExpired();
      if (compacted == 0) {
        break;
      }
      throttle.found(compactor.stats().movedBytes() - before.movedBytes());
    }
    if (!isClosed) {
      compactor.cleanIndex();
    }
    RunOutcome outcome =
        RunOutcome.of(before, compactor.stats(), log.tailAddress() - start, size());
    if (isWhole) {
      throttle.runEnded(outcome.liveBytes(), outcome.leftBytes(), size());
      // Much of what a slow run has left was written during the run.
      trigger.runEnded(outcome, unknownBefore, Math.max(outcome.leftBytes(), liveBytes()));
    } else {
      trigger.truncated(outcome.leftBytes());
    }
    if (sample != null) {
      sample.runEnded(outcome.expiredBytes());
    }
  }

  /** Whether so much has expired that the run continues whatever is held. */
  private boolean mustContinue() {
    return sample != null && sample.isTooMuch();
  }

  /** Bytes of the log that are known to have expired. */
  private long expiredBytes() {
    return sample == null ? 0 : sample.expiredBytes();
  }

  private long size() {
    return engine.log().lengthBytes();
  }
}
