package io.fasterkv.bench.nexmark.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.job.JobMeter;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.StateBackend;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class QueryGraphTest {
  @TempDir Path directory;

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void everyQueryIsAJobWithOneSource(Query query) throws Exception {
    JobPlan plan =
        new JobPlan(
            query,
            StateBackend.HASHMAP,
            new JobPlan.Input(1000, 1, 1),
            new JobPlan.Cluster(2, 32 << 20, false),
            new JobPlan.Pace(0, 0.2),
            List.of(),
            1000,
            false);
    try (JobMeter meter = JobMeter.open(plan, directory)) {
      assertThat(QueryGraph.of(query, meter, new Configuration()).getNumberOfVertices())
          .isPositive();
      assertThat(meter.sources()).isOne();
    }
  }
}
