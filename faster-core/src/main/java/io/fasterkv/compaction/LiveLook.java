package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;

/**
 * Looks at what is live, and corrects what is known of it, as far as a {@link LiveSample} can be
 * believed. While sessions and scans have the scratch memory it sees nothing. For the thread that
 * compacts.
 */
final class LiveLook {
  /** A sample finds three quarters of what is live, or more. */
  private static final long ERROR_SHARE = 4;

  private final Engine engine;
  private final Compactor compactor;
  private final PassTrigger trigger;
  private final WriteBrake brake;
  private final LiveSample sample;

  LiveLook(Engine engine, Compactor compactor, PassTrigger trigger, WriteBrake brake) {
    this.engine = engine;
    this.compactor = compactor;
    this.trigger = trigger;
    this.brake = brake;
    sample = new LiveSample(engine);
  }

  /** Whether a pass is due by what a sample says is live, too. */
  boolean isWorthAPass() {
    try {
      if (!compactor.whileNonePasses(sample::look)) {
        return true;
      }
      HybridLog log = engine.log();
      long onDisk = sample.sampledBytes();
      long liveOnDisk = sample.liveSampledBytes();
      if (trigger.isWorthIt(log.lengthBytes(), onDisk, liveOnDisk, log.holds().isHeld())) {
        believe();
        return true;
      }
      brake.sampled(sample.leastBytes());
      return false;
    } catch (OutOfBudget e) {
      // A pass asks for scratch memory, too, and tells when there is none.
      return true;
    }
  }

  /** What is live may be less than is known. */
  void lower() {
    try {
      if (compactor.whileNonePasses(sample::look)) {
        believe();
      }
    } catch (OutOfBudget e) {
      // It is asked for again.
    }
  }

  private void believe() {
    long most = sample.mostBytes();
    brake.isAtMost(most + most / ERROR_SHARE);
  }
}
