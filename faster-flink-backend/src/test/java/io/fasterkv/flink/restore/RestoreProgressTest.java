package io.fasterkv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Lines;
import java.time.Duration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.Test;

/** Tests how often a restore logs its progress, and what it logs. */
class RestoreProgressTest {
  private final Lines lines = new Lines();
  private final ManualClock clock = new ManualClock();
  private final RestoreProgress progress =
      new RestoreProgress(new RestoreScope(new CloseableRegistry(), clock, 1, lines));

  private void pass(long millis) {
    clock.advanceTime(Duration.ofMillis(millis));
  }

  @Test
  void reportsAtMostOnceInTenSeconds() {
    progress.logProgress("at", 0);
    pass(9_999);
    progress.logProgress("at", 9_999);
    pass(1);
    progress.logProgress("at", 10_000);
    progress.logProgress("at", "once more");
    pass(14_000);
    progress.logProgress("at", 24_000);
    pass(9_999);
    progress.logProgress("at", 33_999);
    pass(1);
    progress.logProgress("at", 34_000);
    assertThat(lines.all())
        .containsExactly(
            "at: 10000, millis=10000", "at: 24000, millis=24000", "at: 34000, millis=34000");
    assertThat(progress.millis()).isEqualTo(34_000);
  }

  @Test
  void aPartWithManyEntriesReportsItsProgress() {
    InsertProgress inserted = new InsertProgress(progress, "putting", 4);
    inserted.passed(1);
    pass(10_000);
    for (int i = 0; i < 2_500; i++) {
      inserted.add(3);
    }
    pass(10_000);
    inserted.passed(2);
    assertThat(lines.all())
        .containsExactly(
            "putting: percent=25, entries=1024, bytes=3072, millis=10000",
            "putting: percent=75, entries=2500, bytes=7500, millis=20000");
  }

  @Test
  void ofNothingAllIsDone() {
    assertThat(new InsertProgress(progress, "putting", 0))
        .hasToString("percent=100, entries=0, bytes=0");
  }
}
