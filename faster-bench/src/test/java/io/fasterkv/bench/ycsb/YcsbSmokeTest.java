package io.fasterkv.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs every workload on every store; the run itself checks that the store contains what was
 * written.
 */
@Tag("long")
class YcsbSmokeTest {
  private static final Timing SHORT =
      new Timing(Duration.ofMillis(5), Duration.ofMillis(10), 2, 10_000, 1);

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(ints = {8, 100})
  void everyStoreRunsEveryWorkload(int valueBytes) {
    List<RowSpec> rows = new ArrayList<>();
    for (StoreKind store : StoreKind.values()) {
      for (Workload workload :
          List.of(Workload.RMW, Workload.READ, Workload.mix(50), Workload.UPSERT, Workload.RMW)) {
        for (int threads : new int[] {1, 2}) {
          if (store.refusal(workload, valueBytes, threads).isEmpty()) {
            rows.add(new RowSpec(store, workload, Distribution.ZIPF, threads, 1));
            if (store.hasBatches()) {
              rows.add(new RowSpec(store, workload, Distribution.ZIPF, threads, 32));
            }
          }
        }
      }
    }

    List<RowResult> results =
        new YcsbRun(new Data(5_000, valueBytes, 0, 0), SHORT, rows, directory).run();

    assertThat(results).hasSameSizeAs(rows);
    assertThat(results).allSatisfy(row -> assertThat(row.mops().min()).isPositive());
  }
}
