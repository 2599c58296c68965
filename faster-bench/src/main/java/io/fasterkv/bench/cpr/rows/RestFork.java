package io.fasterkv.bench.cpr.rows;

import io.fasterkv.FasterStore;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.BenchStore;
import io.fasterkv.bench.store.StoreSettings;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.ycsb.Slice;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Runs two versions of the store in turn, in a JVM that runs nothing else. How a JVM compiles a
 * loop, and which memory it gets, differs from one JVM to the next by more than the versions do.
 */
final class RestFork {
  /** Prefix of the lines with results. */
  static final String RESULT = "RATIO ";

  private static final double WARM_UP = 1.5;
  private static final double SLICE = 0.5;
  private static final int NOW = 0;
  private static final int BASELINE = 1;

  private final CprPlan plan;
  private final BenchStore[] stores = new BenchStore[2];
  private final List<KeyStream> streams;

  private RestFork(CprPlan plan) {
    this.plan = plan;
    streams = plan.streams(Workload.mix(50), Distribution.ZIPF);
  }

  /** The arguments for {@link #main}. */
  static List<String> arguments(Path baseline, Path directory, int fork, CprPlan plan) {
    return List.of(
        baseline.toString(),
        directory.toString(),
        Integer.toString(fork),
        Long.toString(plan.keys()),
        Integer.toString(plan.threads()),
        Long.toString(plan.unit().toMillis()),
        Integer.toString(plan.rounds()),
        Integer.toString(plan.streamLength()));
  }

  /** Prints a ratio for each round. */
  public static void main(String[] arguments) throws IOException {
    CprPlan plan =
        new CprPlan(
            Long.parseLong(arguments[3]),
            Integer.parseInt(arguments[4]),
            Duration.ofMillis(Long.parseLong(arguments[5])),
            Integer.parseInt(arguments[6]),
            Integer.parseInt(arguments[7]));
    WorkDirectory work = WorkDirectory.create(Path.of(arguments[1]));
    try {
      new RestFork(plan).run(Path.of(arguments[0]), work, Integer.parseInt(arguments[2]));
    } finally {
      work.delete();
    }
  }

  /** Every other fork opens the stores in reverse order. */
  private void run(Path baseline, WorkDirectory work, int fork) throws IOException {
    Path[] classes = {ownClasses(), baseline};
    for (int i = 0; i < stores.length; i++) {
      int which = (i + fork) % stores.length;
      stores[which] = loaded(classes[which], work.directory("store-" + which));
    }
    try {
      for (BenchStore store : stores) {
        slice(store, WARM_UP, 0);
      }
      for (int round = 1; round <= plan.rounds(); round++) {
        double[] mops = new double[stores.length];
        for (int i = 0; i < stores.length; i++) {
          int which = (i + round) % stores.length;
          mops[which] = slice(stores[which], SLICE, round);
        }
        System.out.println(RESULT + String.format(Locale.ROOT, "%.6f", mops[NOW] / mops[BASELINE]));
      }
    } finally {
      for (BenchStore store : stores) {
        store.close();
      }
    }
  }

  private double slice(BenchStore store, double units, int round) {
    return new Slice(store, streams, 1, Duration.ofNanos(plan.nanos(units)), round * 997L)
        .run()
        .mops();
  }

  private BenchStore loaded(Path classes, Path directory) throws IOException {
    IsolatedClasses isolated = new IsolatedClasses(classes);
    BenchStore store =
        isolated.open(new StoreSettings(plan.keys(), Long.BYTES, 0, 0, plan.threads(), directory));
    Parallel.run(
        plan.threads(),
        thread ->
            (Callable<Void>)
                () -> {
                  try (BenchSession session = store.newSession(1)) {
                    for (long key = thread; key < plan.keys(); key += plan.threads()) {
                      session.put(key, Values.of(key, 0));
                    }
                  }
                  return null;
                });
    return store;
  }

  private static Path ownClasses() throws IOException {
    try {
      return Path.of(FasterStore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException("no place of the store's classes is known", e);
    }
  }
}
