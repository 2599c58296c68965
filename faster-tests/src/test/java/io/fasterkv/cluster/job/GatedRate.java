package io.fasterkv.cluster.job;

import static java.util.concurrent.CompletableFuture.completedFuture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;

/**
 * Emits a burst of records, and then a limited number a second until the gate, a file, exists.
 * After that there is no limit.
 */
final class GatedRate implements RateLimiterStrategy<NumberSequenceSplit> {
  private static final long serialVersionUID = 1L;
  private static final int BURST = 10_000;
  private static final int PIECE = 16;
  private static final int MILLIS = 1000;

  private final int perSecond;
  private final String gate;

  GatedRate(int perSecond, String gate) {
    this.perSecond = perSecond;
    this.gate = gate;
  }

  @Override
  public RateLimiter<NumberSequenceSplit> createRateLimiter(int parallelism) {
    return new Limiter(PIECE * MILLIS / perSecond, Path.of(gate));
  }

  /** Releases pieces with a pause after each one. For the reader's thread only. */
  private static final class Limiter implements RateLimiter<NumberSequenceSplit> {
    private final long pauseMillis;
    private final Path gate;
    private int burst = BURST;
    private int taken;
    private boolean isOpen;

    Limiter(long pauseMillis, Path gate) {
      this.pauseMillis = pauseMillis;
      this.gate = gate;
    }

    @Override
    public CompletionStage<Void> acquire(int records) {
      if (burst > 0) {
        burst -= records;
        return completedFuture(null);
      }
      taken += records;
      if (isOpen || taken < PIECE) {
        return completedFuture(null);
      }
      taken = 0;
      isOpen = Files.exists(gate);
      return isOpen
          ? completedFuture(null)
          : CompletableFuture.runAsync(
              () -> {}, CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS));
    }
  }
}
