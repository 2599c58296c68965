package io.fasterkv.compaction;

import io.fasterkv.api.CompactionStats;
import io.fasterkv.api.KeepRule;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.StoreException.OutOfAddresses;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.device.OriginUnreadable;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.operation.Engine;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a log small on a thread of its own. A pass begins when {@link PassTrigger} says so, and a
 * {@link LiveLook} agrees; it goes over the log as it was then, a piece at a time, no faster than
 * its {@link Pace}, and frees each piece before it takes the next. Where a checkpoint keeps what
 * would be freed, a pass goes as far as its {@link HeldShare} allows, and waits for the next
 * checkpoint. What is written meanwhile is kept in bounds by the {@link WriteBrake}. Where records
 * expire, a pass over the head of the log also begins when the {@link ExpirySample} says so.
 */
public final class BackgroundCompaction implements AutoCloseable {
  private static final long PIECES = 16;

  /** A pass over less of the log would not be worth what it takes to begin one. */
  private static final long LEAST_SHARE = 32;

  private static final long LOOK_NANOS = 10_000_000;
  private static final long REFUSED_NANOS = 1_000_000_000;
  private static final Logger LOG = System.getLogger("io.fasterkv");

  private final Engine engine;
  private final Compactor compactor;
  private final PassTrigger trigger;
  private final WriteBrake brake;
  private final LiveLook look;
  private final @Nullable ExpirySample sample;
  private final long bytesPerSecond;
  private final LongConsumer park;
  private final PassWait wait;
  private final Thread thread;
  private String refusal = "";
  private volatile boolean isClosed;
  private volatile @Nullable Throwable failure;

  /**
   * Creates a thread that {@link #start} starts. A log smaller than its memory is not worth
   * compacting.
   */
  public BackgroundCompaction(Engine engine, Compactor compactor, StoreConfig config) {
    this(engine, compactor, config, LockSupport::parkNanos);
  }

  /** With another way to let some nanoseconds go by between two looks at the log. */
  BackgroundCompaction(Engine engine, Compactor compactor, StoreConfig config, LongConsumer park) {
    this.engine = engine;
    this.park = park;
    trigger = new PassTrigger(engine.log()::wholeBytes);
    HeldShare share = new HeldShare(engine.log(), trigger, config.logMemoryBytes());
    bytesPerSecond = config.compactionBytesPerSecond();
    brake =
        new WriteBrake(
            engine.log().brake(),
            engine.chainSteps()::growth,
            config.logMemoryBytes(),
            bytesPerSecond == 0,
            size(),
            share::mayBeLong);
    this.compactor = compactor;
    look = new LiveLook(engine, compactor, trigger, brake);
    WriteQuiet quiet =
        new WriteQuiet(() -> engine.chainSteps().growth().madeBytes(), config.pageBytes());
    wait = new PassWait(engine.log(), share, quiet, this::lookAnew);
    KeepRule rule = config.keepRule();
    sample =
        rule == null
            ? null
            : new ExpirySample(engine, rule, () -> compactor.stats().expiredBytes());
    String name = "faster-compaction-" + config.directory().getFileName();
    thread = engine.log().failure().thread(name, this::run);
  }

  public void start() {
    thread.start();
  }

  /** What has ended compaction before its time; null while all is well. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /**
   * How many bytes of the log are live at least: what the last pass has found to be, and what was
   * added since.
   */
  public long liveBytes() {
    return Math.min(brake.live(), size());
  }

  /** Ends the thread after the piece it is at. */
  @Override
  public void close() {
    isClosed = true;
    brake.letGo();
    OwnThread.awaitEnd(thread);
  }

  /** The head of the log has expired, which is not for compaction to make up for. */
  public void truncated() {
    trigger.truncated(size());
    brake.truncated(size());
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
      brake.letGo();
    }
  }

  private void turn() {
    try {
      if (isDue() && look.isWorthAPass()) {
        pass(engine.log().flushedAddress(), true);
      } else if (isExpiryDue()) {
        passOverExpired();
      } else {
        park.accept(LOOK_NANOS);
      }
    } catch (DeviceFailed e) {
      if (!(e.getCause() instanceof OriginUnreadable)) {
        throw e;
      }
      // The log is still where it came from; who brings it here tries again, too.
      refused(e);
    }
  }

  /** Whether a pass is due, and has something to look at: not all of a log need be on disk. */
  private boolean isDue() {
    HybridLog log = engine.log();
    long least = Math.max(log.pageBytes(), size() / LEAST_SHARE);
    return log.flushedAddress() - log.beginAddress() >= least
        && trigger.isDue(size(), brake.live(), log.holds().isHeld());
  }

  /** What is live may be less than is known, and entries of what was dropped are to be freed. */
  private void lookAnew() {
    look.lower();
    try {
      compactor.cleanIndex();
    } catch (OutOfBudget e) {
      // Sessions and scans have all epoch slots for now.
    }
  }

  private boolean isExpiryDue() {
    return sample != null && looks(sample::isDue);
  }

  /** What expires while a pass waits may be more than is to stay. */
  private void lookAgain() {
    if (sample != null) {
      looks(sample::lookAgain);
    }
  }

  private boolean looks(Supplier<Boolean> question) {
    try {
      return compactor.whileNonePasses(question);
    } catch (OutOfBudget e) {
      // Sessions and scans have the scratch memory for now.
      return false;
    }
  }

  /** What is only in memory goes to the device first, as far as the pass goes. */
  private void passOverExpired() {
    HybridLog log = engine.log();
    long until = Objects.requireNonNull(sample).dueUntil();
    try {
      if (until > log.flushedAddress()) {
        if (log.isRefused()) {
          // Who freezes more meanwhile lets a log grow that is updated in place.
          park.accept(REFUSED_NANOS);
          return;
        }
        log.freeze(until);
      }
      pass(until, false);
    } catch (DiskFull e) {
      // It stays in memory, and is written when there is space.
      park.accept(REFUSED_NANOS);
    }
  }

  /**
   * Compacts the log up to an address.
   *
   * @param isWhole whether that is all that can be compacted
   */
  private void pass(long until, boolean isWhole) {
    try {
      compact(until, isWhole);
    } catch (OutOfBudget e) {
      // Sessions and scans have the scratch memory for now; until they give it back, the log grows.
      brake.letGo();
      park.accept(LOOK_NANOS);
    } catch (RecordTooLarge | OutOfAddresses e) {
      refused(e);
    }
  }

  /**
   * The log cannot be compacted past a value until its key is written or deleted: it grows; or
   * there is no place left to compact to.
   */
  private void refused(StoreException cause) {
    brake.letGo();
    String text = String.valueOf(cause.getMessage());
    if (!text.equals(refusal)) {
      refusal = text;
      LOG.log(Level.WARNING, "compaction waits: " + refusal);
    }
    park.accept(REFUSED_NANOS);
  }

  private void compact(long end, boolean isWhole) {
    HybridLog log = engine.log();
    long start = log.tailAddress();
    long unknownBefore = size() - brake.live();
    CompactionStats before = compactor.stats();
    if (isWhole) {
      brake.begins();
    }
    wait.begins();
    if (sample != null) {
      sample.passBegins();
    }
    Pace pace = new Pace(bytesPerSecond, () -> isClosed);
    long largest = Math.max(log.pageBytes(), (end - log.beginAddress()) / PIECES);
    while (!isClosed && log.beginAddress() + log.pageBytes() <= end) {
      long piece = wait.pieceBytes(largest);
      if (!mustGoOn() && !wait.isOver(isWhole, piece, brake.live() - expiredBytes())) {
        wait.waits();
        lookAgain();
        park.accept(LOOK_NANOS);
        // What was not looked at in the meantime is not made up for.
        pace = new Pace(bytesPerSecond, () -> isClosed);
        continue;
      }
      long expiredBefore = compactor.stats().expiredBytes();
      long compacted = compactor.compact(Math.min(end, log.beginAddress() + piece), pace);
      brake.expired(compactor.stats().expiredBytes() - expiredBefore);
      if (compacted == 0) {
        break;
      }
      brake.found(compactor.stats().movedBytes() - before.movedBytes());
    }
    if (!isClosed) {
      compactor.cleanIndex();
    }
    PassOutcome outcome =
        PassOutcome.of(before, compactor.stats(), log.tailAddress() - start, size());
    if (isWhole) {
      brake.passed(outcome.liveBytes(), outcome.leftBytes(), size());
      // Of what a pass that took its time has left, much was written meanwhile.
      trigger.passed(outcome, unknownBefore, Math.max(outcome.leftBytes(), liveBytes()));
    } else {
      trigger.truncated(outcome.leftBytes());
    }
    if (sample != null) {
      sample.passed(outcome.expiredBytes());
    }
  }

  /** Whether more has expired than is to stay, whatever is held. */
  private boolean mustGoOn() {
    return sample != null && sample.isTooMuch();
  }

  /** How much of the log is known to have expired. */
  private long expiredBytes() {
    return sample == null ? 0 : sample.expiredBytes();
  }

  private long size() {
    return engine.log().lengthBytes();
  }
}
