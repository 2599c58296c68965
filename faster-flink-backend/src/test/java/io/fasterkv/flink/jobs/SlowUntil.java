package io.fasterkv.flink.jobs;

import static java.util.concurrent.CompletableFuture.completedFuture;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;

/** Emits a burst, and then one record every few milliseconds until a condition holds. */
final class SlowUntil implements RateLimiter<NumberSequenceSplit> {
  private static final long PAUSE_MILLIS = 5;

  private final BooleanSupplier hasHappened;
  private int burst;
  private boolean isFast;

  SlowUntil(int burst, BooleanSupplier hasHappened) {
    this.burst = burst;
    this.hasHappened = hasHappened;
  }

  @Override
  public CompletionStage<Void> acquire(int records) {
    burst = Math.max(0, burst - records);
    isFast |= burst == 0 && hasHappened.getAsBoolean();
    return isFast || burst > 0
        ? completedFuture(null)
        : CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
  }
}
