package io.fasterkv.bench.cpr.figures;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.cpr.experiment.RunClock;
import io.fasterkv.bench.cpr.figures.OperationTimes.LongOperation;
import java.io.IOException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class OperationTimesTest {
  private static final long INTERVAL = 1_000_000_000_000L;

  @Test
  void everyOperationIsInAnIntervalAndLongOnesAreKnownOneByOne() throws IOException {
    RunClock clock = new RunClock(INTERVAL);
    try (ProcessorQueue queue = ProcessorQueue.open()) {
      OperationTimes times = new OperationTimes(clock, queue);
      long begin = clock.begin();

      times.note(begin, begin + 250);
      times.note(begin + 250, begin + 500);
      times.note(begin + 500, begin + 7_000_500);
      times.note(begin + INTERVAL, begin + INTERVAL + 1000);

      assertThat(times.intervals()).extracting(Histogram::getTotalCount).containsExactly(3L, 1L);
      Histogram first = times.intervals().getFirst();
      assertThat(first.getValueAtPercentile(50)).isBetween(248L, 252L);
      assertThat(first.getMaxValue()).isBetween(6_930_000L, 7_070_000L);
      assertThat(times.longOnes()).extracting(LongOperation::nanos).containsExactly(7_000_000L);
    }
  }

  @Test
  void theWaitForAProcessorIsNotTheOperationsOwn() {
    assertThat(new LongOperation(100, 1100, 300).ownNanos()).isEqualTo(700);
    assertThat(new LongOperation(100, 1100, 2000).ownNanos()).isZero();
  }

  @Test
  void theQueueTimeIsReadFromTheSystemOrZero() throws IOException {
    try (ProcessorQueue queue = ProcessorQueue.open()) {
      long first = queue.nanos();
      assertThat(first).isNotNegative();
      assertThat(queue.nanos()).isGreaterThanOrEqualTo(first);
    }
  }
}
