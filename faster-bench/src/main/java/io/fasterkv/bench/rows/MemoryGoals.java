package io.fasterkv.bench.rows;

import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.ycsb.RowResult;
import io.fasterkv.bench.ycsb.RowSpec;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** The goals for data in memory, with the rows that they need. */
final class MemoryGoals {
  private static final int ONE_AT_A_TIME = 1;

  /** Less than one byte in a hundred operations, which is due to sessions and clocks. */
  private static final double ZERO_BYTES = 0.01;

  private final int batch;
  private final int threads;

  /**
   * @param batch number of operations in a batch
   * @param threads number of threads for measuring the scaling
   */
  MemoryGoals(int batch, int threads) {
    this.batch = batch;
    this.threads = threads;
  }

  /** All rows that the goals compare. */
  List<RowSpec> rows() {
    Set<RowSpec> rows = new LinkedHashSet<>();
    rows.add(uniform(StoreKind.FASTER, Workload.RMW, 1, ONE_AT_A_TIME));
    rows.add(uniform(StoreKind.CHM, Workload.RMW, 1, ONE_AT_A_TIME));
    rows.add(uniform(StoreKind.FASTER, Workload.RMW, threads, ONE_AT_A_TIME));
    rows.add(uniform(StoreKind.FASTER, Workload.READ, 1, ONE_AT_A_TIME));
    rows.add(uniform(StoreKind.FASTER, Workload.UPSERT, 1, ONE_AT_A_TIME));
    rows.add(uniform(StoreKind.FASTER, Workload.RMW, 1, batch));
    rows.add(uniform(StoreKind.FASTER, Workload.READ, 1, batch));
    rows.add(uniform(StoreKind.CEILING, Workload.READ, 1, batch));
    rows.add(uniform(StoreKind.FASTER, Workload.UPSERT, 1, batch));
    rows.add(mixed(StoreKind.FASTER));
    rows.add(mixed(StoreKind.FASTER_APPEND));
    return new ArrayList<>(rows);
  }

  /** The goals with the rows' results. */
  List<Goal> goals(List<RowResult> results) {
    List<Goal> goals = new ArrayList<>();
    goals.add(
        Goal.atLeast(
            "RMW, one at a time, one thread, uniform, against ConcurrentHashMap.merge",
            5,
            ratio(
                results,
                uniform(StoreKind.FASTER, Workload.RMW, 1, ONE_AT_A_TIME),
                uniform(StoreKind.CHM, Workload.RMW, 1, ONE_AT_A_TIME)),
            ""));
    goals.add(
        Goal.atLeast(
            "batched RMW against one at a time",
            2.5,
            ratio(
                results,
                uniform(StoreKind.FASTER, Workload.RMW, 1, batch),
                uniform(StoreKind.FASTER, Workload.RMW, 1, ONE_AT_A_TIME)),
            ""));
    goals.add(
        Goal.atLeast(
            "batched read, uniform, against the ceiling",
            0.7,
            ratio(
                results,
                uniform(StoreKind.FASTER, Workload.READ, 1, batch),
                uniform(StoreKind.CEILING, Workload.READ, 1, batch)),
            ""));
    goals.add(
        Goal.atLeast(
            threads + " threads against one, uniform RMW",
            1.8,
            ratio(
                results,
                uniform(StoreKind.FASTER, Workload.RMW, threads, ONE_AT_A_TIME),
                uniform(StoreKind.FASTER, Workload.RMW, 1, ONE_AT_A_TIME)),
            ""));
    goals.add(
        Goal.atLeast(
            "hybrid against append-only, 50:50 Zipf, " + threads + " threads",
            2,
            ratio(results, mixed(StoreKind.FASTER), mixed(StoreKind.FASTER_APPEND)),
            ""));
    goals.add(
        Goal.atMost(
            "allocation on read, upsert, RMW, the worst row",
            "B/op",
            ZERO_BYTES,
            allocation(results),
            ""));
    return goals;
  }

  private static Spread allocation(List<RowResult> results) {
    double[] bytes =
        results.stream()
            .filter(row -> row.spec().store() == StoreKind.FASTER)
            .flatMapToDouble(row -> DoubleStream.of(row.bytesPerOp()))
            .sorted()
            .toArray();
    double worst = bytes[bytes.length - 1];
    return new Spread(worst, bytes[0], worst);
  }

  private static @Nullable Spread ratio(List<RowResult> results, RowSpec row, RowSpec other) {
    RowResult one = find(results, row);
    RowResult two = find(results, other);
    return one == null || two == null ? null : one.times(two);
  }

  private static @Nullable RowResult find(List<RowResult> results, RowSpec spec) {
    for (RowResult result : results) {
      if (result.spec().equals(spec)) {
        return result;
      }
    }
    return null;
  }

  private static RowSpec uniform(StoreKind store, Workload workload, int threads, int batch) {
    return new RowSpec(store, workload, Distribution.UNIFORM, threads, batch);
  }

  private RowSpec mixed(StoreKind store) {
    return new RowSpec(store, Workload.mix(50), Distribution.ZIPF, threads, ONE_AT_A_TIME);
  }
}
