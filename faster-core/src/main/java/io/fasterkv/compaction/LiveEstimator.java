package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;

/**
 * Corrects the known live bytes by a {@link LiveSample}, as far as the sample is reliable. It finds
 * nothing while sessions and scans are using the scratch memory. For the compacting thread.
 */
final class LiveEstimator {
  /** A sample finds at least three quarters of the live bytes. */
  private static final long ERROR_SHARE = 4;

  /** The error of a sample is rarely more than this part of the log. */
  private static final long LEAST_SHARE = 10;

  private final Engine engine;
  private final Compactor compactor;
  private final RunTrigger trigger;
  private final WriteThrottle throttle;
  private final LiveSample sample;

  LiveEstimator(Engine engine, Compactor compactor, RunTrigger trigger, WriteThrottle throttle) {
    this.engine = engine;
    this.compactor = compactor;
    this.trigger = trigger;
    this.throttle = throttle;
    sample = new LiveSample(engine);
  }

  /** Whether a run is due also according to a sample of the live bytes. */
  boolean isWorthARun() {
    try {
      if (!compactor.whileNoneRuns(sample::sample)) {
        return true;
      }
      HybridLog log = engine.log();
      long onDisk = sample.sampledBytes();
      long liveOnDisk = sample.liveSampledBytes();
      if (trigger.isWorthIt(log.lengthBytes(), onDisk, liveOnDisk, log.pins().isHeld())) {
        adopt();
        return true;
      }
      throttle.sampled(sample.leastBytes());
      return false;
    } catch (OutOfBudget e) {
      // A run needs scratch memory too, and reports if there is none.
      return true;
    }
  }

  /** Lowers the known live bytes if a sample finds fewer. */
  void lower() {
    try {
      mostBytes();
    } catch (OutOfBudget e) {
      // There will be another call.
    }
  }

  /**
   * Upper bound of the log's live bytes, from a sample; also lowers the known live bytes to it.
   *
   * @throws OutOfBudget if sessions and scans are using the scratch memory now
   */
  long mostBytes() {
    if (!compactor.whileNoneRuns(sample::sample)) {
      return engine.log().lengthBytes();
    }
    adopt();
    return sample.mostBytes();
  }

  /**
   * Lowers the guessed live bytes if a sample finds fewer; everything that is not on disk counts as
   * live.
   */
  void lowerGuess() {
    try {
      if (compactor.whileNoneRuns(sample::sample)) {
        long notOnDisk = engine.log().lengthBytes() - sample.sampledBytes();
        long most = sample.liveSampledBytes() + notOnDisk;
        throttle.isAtMost(most + most / ERROR_SHARE);
      }
    } catch (OutOfBudget e) {
      // Keep the guess.
    }
  }

  /** Lower bound, from a sample, of the live bytes on disk; for all threads. */
  long leastBytes() {
    try {
      return compactor.whileNoneRuns(() -> {
        LiveSample own = new LiveSample(engine);
        return own.sample() ? own.liveSampledBytes() / LEAST_SHARE * (LEAST_SHARE - 1) : 0;
      });
    } catch (OutOfBudget e) {
      return 0;
    }
  }

  private void adopt() {
    long most = sample.mostBytes();
    throttle.isAtMost(most + most / ERROR_SHARE);
  }
}
