package io.fasterkv.bench.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobMeterTest {
  private static final JobPlan PLAN =
      new JobPlan(
          TestJob.NONE,
          StateBackend.HASHMAP,
          new JobPlan.Input(10_000, 5, 1),
          new JobPlan.Cluster(2, 0, false),
          new JobPlan.Pace(1_000, 0),
          List.of(0.25, 0.5),
          1000,
          false);

  @TempDir Path directory;
  private JobMeter meter;

  @BeforeEach
  void open() throws Exception {
    meter = JobMeter.open(PLAN, directory);
  }

  @AfterEach
  void close() {
    meter.close();
  }

  /** The meter of a task, which has received its handle as another process would. */
  private TaskMeter task() throws Exception {
    return InstantiationUtil.clone(meter.forTasks()).open();
  }

  @Test
  void eachPlannedFailureHappensOnce() throws Exception {
    TaskMeter one = task();
    long[] millis = PLAN.failureMillis();
    one.failIfPlanned(millis[0] - 1);
    assertThatThrownBy(() -> one.failIfPlanned(millis[0])).hasMessageContaining("failure=1");
    assertThat(meter.failureNanos()).hasSize(1);
    TaskMeter other = task();
    other.failIfPlanned(millis[0] + 1);
    assertThatThrownBy(() -> other.failIfPlanned(millis[1])).hasMessageContaining("failure=2");
    TaskMeter last = task();
    last.failIfPlanned(millis[1] + 1);
    assertThat(meter.failureNanos()).hasSize(2).isSorted();
  }

  @Test
  void thePaceBeginsOnceAndEachStartCounts() throws Exception {
    TaskMeter first = task();
    first.readerStarted();
    long due = first.dueNanos(500);
    TaskMeter second = task();
    second.readerStarted();
    assertThat(second.dueNanos(500)).isEqualTo(due);
    long begin = due - 500_000_000;
    assertThat(meter.restartNanos(begin - 1)).isEqualTo(begin);
    assertThat(meter.restartNanos(begin)).isGreaterThanOrEqualTo(begin);
    assertThat(meter.restartNanos(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void figuresOfTasksAreSummedUp() throws Exception {
    TaskMeter one = task();
    TaskMeter other = task();
    one.count(0);
    one.count(0);
    other.count(1);
    assertThat(meter.emitted()).isEqualTo(3);
    one.processed(System.nanoTime() - 5_000_000);
    other.processed(System.nanoTime() - 9_000_000_000L);
    assertThat(meter.latencyMicros().getTotalCount()).isEqualTo(2);
    assertThat(meter.latencyMicros().getMaxValue()).isGreaterThan(8_900_000);
    assertThat(meter.endNanos()).isZero();
    one.ended(0, new Digest(5, 1, 7));
    other.ended(1, new Digest(3, 2, -9));
    assertThat(meter.digest()).isEqualTo(new Digest(8, 3, -2));
    assertThat(meter.endNanos()).isPositive();
  }
}
