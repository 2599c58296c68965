package io.fasterkv.bench.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.ycsb.Data;
import io.fasterkv.bench.ycsb.RowResult;
import io.fasterkv.bench.ycsb.Timing;
import io.fasterkv.bench.ycsb.YcsbRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryGoalsTest {
  @TempDir private Path directory;

  @Test
  void theRowsThatItAsksForAnswerEveryGoal() {
    MemoryGoals goals = new MemoryGoals(8, 2);
    Timing timing = new Timing(Duration.ofMillis(2), Duration.ofMillis(5), 2, 2_000, 1);
    List<RowResult> results =
        new YcsbRun(new Data(2_000, Long.BYTES, 0, 0), timing, goals.rows(), directory).run();

    assertThat(goals.goals(results))
        .hasSize(6)
        .allSatisfy(goal -> assertThat(goal.measured()).as(goal.name()).isNotNull());
  }

  @Test
  void aGoalIsMetByItsMedian() {
    assertThat(Goal.atLeast("fast", 5, new Spread(5, 1, 6), "").verdict()).isEqualTo("met");
    assertThat(Goal.atLeast("fast", 5, new Spread(4.9, 1, 6), "").verdict()).isEqualTo("not met");
    assertThat(Goal.atMost("small", "B", 5, new Spread(5, 1, 6), "").verdict()).isEqualTo("met");
    assertThat(Goal.atMost("small", "B", 5, new Spread(5.1, 1, 6), "").verdict())
        .isEqualTo("not met");
    assertThat(Goal.atLeast("fast", 5, null, "why").verdict()).isEqualTo("not measured");
  }
}
