package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.workload.WrongAnswer;
import io.fasterkv.bench.ycsb.Slice.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Loads and checks all stores, warms every row up, and then lets the rows take turns: a round is
 * one slice of each. So a temporary disturbance of the machine affects all rows, and a ratio
 * compares slices of one round.
 */
public final class YcsbRun {
  private final Data data;
  private final Timing timing;
  private final List<RowSpec> specs;
  private final Path directory;
  private final Map<StoreKind, LoadedStore> stores = new EnumMap<>(StoreKind.class);
  private final List<RowResult> results;
  private final Map<StreamKey, KeyStream> streams = new HashMap<>();

  private record StreamKey(Workload workload, Distribution distribution, int thread) {}

  /**
   * @param directory where stores keep their files, each in a directory of its own
   */
  public YcsbRun(Data data, Timing timing, List<RowSpec> specs, Path directory) {
    this.data = data;
    this.timing = timing;
    this.specs = List.copyOf(specs);
    this.directory = directory;
    results = this.specs.stream().map(s -> new RowResult(s, new CopyOnWriteArrayList<>())).toList();
  }

  /** The rows that have been measured in at least one round; for any thread. */
  public List<RowResult> measured() {
    return results.stream().filter(row -> !row.outcomes().isEmpty()).toList();
  }

  /**
   * Runs all rows.
   *
   * @throws WrongAnswer if a store does not have what was written
   */
  public List<RowResult> run() {
    long kinds = specs.stream().map(RowSpec::store).distinct().count();
    long steps = 2 * kinds + (long) specs.size() * (timing.rounds() + 1);
    try (Progress progress = Progress.start("ycsb", steps)) {
      load(progress);
      for (RowSpec spec : specs) {
        progress.begin("warming up " + spec.label());
        slice(spec, timing.warmup(), 0);
        progress.step();
      }
      rounds(progress);
      for (Map.Entry<StoreKind, LoadedStore> entry : stores.entrySet()) {
        progress.begin("checking " + entry.getKey().label());
        entry.getValue().check();
        progress.step();
      }
      return results;
    } finally {
      stores.values().forEach(LoadedStore::close);
    }
  }

  private void rounds(Progress progress) {
    for (int round = 1; round <= timing.rounds(); round++) {
      for (RowResult row : results) {
        progress.begin("round " + round + ", " + row.spec().label());
        row.outcomes().add(slice(row.spec(), timing.slice(), round));
        progress.step();
      }
    }
  }

  private void load(Progress progress) {
    int threads = specs.stream().mapToInt(RowSpec::threads).max().orElseThrow();
    for (RowSpec spec : specs) {
      if (!stores.containsKey(spec.store())) {
        StoreKind kind = spec.store();
        progress.begin("loading " + kind.label());
        LoadedStore loaded =
            new LoadedStore(
                kind.label(),
                kind.open(data.settings(threads, directory.resolve(kind.label()))),
                data.keys(),
                threads,
                data.mayBeOnDisk(kind));
        stores.put(kind, loaded);
        loaded.load();
        progress.step();
      }
    }
  }

  private Outcome slice(RowSpec spec, Duration duration, int round) {
    LoadedStore loaded = stores.get(spec.store());
    if (loaded == null) {
      throw new IllegalStateException("not loaded: store=" + spec.store());
    }
    loaded.before(spec.workload());
    List<KeyStream> own = new ArrayList<>();
    for (int thread = 0; thread < spec.threads(); thread++) {
      own.add(stream(spec, thread));
    }
    Outcome outcome = new Slice(loaded.store(), own, spec.batch(), duration, round * 997L).run();
    loaded.after(spec.workload(), outcome.operations());
    return outcome;
  }

  /** Generates the same keys for every store. */
  private KeyStream stream(RowSpec spec, int thread) {
    return streams.computeIfAbsent(
        new StreamKey(spec.workload(), spec.distribution(), thread),
        key ->
            KeyStream.make(
                key.workload(),
                key.distribution(),
                data.keys(),
                timing.streamLength(),
                timing.seed() + thread));
  }
}
