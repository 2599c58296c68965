package io.fasterkv.bench.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadRatesTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Adds {@code inAMillisecond} reads in each millisecond; returns the time at the end. */
  private static long reads(ReadRates rates, long from, int seconds, int inAMillisecond) {
    long millis = TimeUnit.SECONDS.toMillis(seconds);
    for (long i = 0; i < millis * inAMillisecond; i++) {
      rates.add(from + i * SECOND / 1000 / inAMillisecond);
    }
    return from + seconds * SECOND;
  }

  @Test
  void fastReadsAreSteadyAtOnce() {
    ReadRates rates = new ReadRates(0);
    reads(rates, 0, 10, 7);
    assertThat(rates.steady(5 * SECOND)).isEqualTo(7000);
    assertThat(rates.nanosToSteady(5 * SECOND)).isZero();
  }

  @Test
  void slowReadsAreSteadyOnceTheyGetFast() {
    ReadRates rates = new ReadRates(0);
    long slow = reads(rates, 0, 3, 4);
    reads(rates, slow, 10, 7);
    assertThat(rates.steady(5 * SECOND)).isEqualTo(7000);
    assertThat(rates.nanosToSteady(5 * SECOND)).isBetween(2_900_000_000L, 3 * SECOND);
  }

  @Test
  void aReadThatTakesLongLeavesWindowsWithoutReads() {
    ReadRates rates = new ReadRates(0);
    rates.add(4 * SECOND);
    reads(rates, 4 * SECOND, 6, 7);
    assertThat(rates.nanosToSteady(2 * SECOND)).isEqualTo(4 * SECOND);
  }
}
