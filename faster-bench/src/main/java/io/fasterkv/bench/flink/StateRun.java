package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.workload.WrongAnswer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Measures one suite with one memory setting. It loads all backends, each in a new process of its
 * own (what the JVM compiles depends on everything that ran before), warms every row up, and then
 * lets the backends take turns, row after row and round after round. They make the same calls on
 * the same keys, and must read the same. The warm-up also determines the length of a slice of a
 * row: as many calls as the slowest backend makes in a few seconds. A turn begins when no
 * background work is running and everything written is on the disk.
 */
final class StateRun {
  /** The warm-up consists of this many parts, so that it can stop when the time is over. */
  private static final int WARM_UP_PARTS = 500;

  private final FlinkPlan plan;
  private final Suite suite;
  private final MemorySetting memory;
  private final List<StateRow> rows;

  StateRun(FlinkPlan plan, Suite suite, MemorySetting memory, List<StateRow> rows) {
    this.plan = plan;
    this.suite = suite;
    this.memory = memory;
    this.rows = rows.stream().filter(row -> row.isOf(suite)).toList();
  }

  /** Number of steps that {@link #run} reports. */
  int steps() {
    return plan.backends().size() * (1 + rows.size() * (plan.rounds() + 1));
  }

  /**
   * Runs the suite.
   *
   * @throws WrongAnswer if two backends have read different things
   */
  List<StateResult> run(WorkDirectory work, Progress progress) throws Exception {
    try (BackendProcesses processes = BackendProcesses.start(plan.backends())) {
      return run(work, processes.all(), progress);
    }
  }

  private List<StateResult> run(
      WorkDirectory work, List<BackendProcess> backends, Progress progress) throws Exception {
    Path directory = work.directory(suite + "-" + memory.label());
    for (BackendProcess backend : backends) {
      Backend kind = backend.kind();
      progress.begin("loading " + kind + ", " + suite + ", memory " + memory.label());
      String own = directory.resolve(kind.toString()).toString();
      backend.call(new WorkerCall.Open(plan, suite, memoryBytes(), kind, own));
      progress.step();
    }
    List<StateResult> results = rounds(backends, progress);
    for (BackendProcess backend : backends) {
      backend.call(new WorkerCall.Close());
    }
    work.delete(directory);
    return results;
  }

  private long memoryBytes() {
    return memory.bytesFor(plan.stateBytes(suite));
  }

  private List<StateResult> rounds(List<BackendProcess> backends, Progress progress)
      throws Exception {
    List<StateResult> results = new ArrayList<>();
    for (StateRow row : rows) {
      for (Backend kind : plan.backends()) {
        results.add(StateResult.empty(suite, row, kind, memory, memoryBytes()));
      }
    }
    Map<StateRow, Integer> calls = new EnumMap<>(StateRow.class);
    for (StateRow row : rows) {
      progress.begin("warm-up, " + suite + "." + row + ", memory " + memory.label());
      calls.put(row, warmUp(row, backends));
      plan.backends().forEach(kind -> progress.step());
    }
    List<BackendProcess> inTurn = new ArrayList<>(backends);
    for (int round : IntStream.rangeClosed(1, plan.rounds()).toArray()) {
      for (BackendProcess backend : backends) {
        backend.call(new WorkerCall.Reorder());
      }
      // Another backend is first in each round, since a turn may be affected by the one before.
      Collections.rotate(inTurn, 1);
      for (StateRow row : rows) {
        int from = Math.floorMod(round * 99_991, plan.setUpKeys());
        Map<Backend, List<Long>> sums = new LinkedHashMap<>();
        for (BackendProcess backend : inTurn) {
          StateResult result = find(results, row, backend.kind());
          progress.begin("round " + round + ", " + result.label() + ", " + backend.kind());
          boolean isAlone = plan.turnNanos() == 0 || Quiet.awaitWithDisk(backends);
          WorkerCall.Turn.Done turn =
              backend.call(new WorkerCall.Turn(row, from, calls.getOrDefault(row, 1), isAlone));
          result.turns().add(turn.measured());
          sums.put(backend.kind(), turn.sums());
          progress.step();
        }
        checkSame(row, sums);
      }
    }
    return results;
  }

  private static StateResult find(List<StateResult> results, StateRow row, Backend kind) {
    return results.stream()
        .filter(result -> result.row() == row && result.backend() == kind)
        .findFirst()
        .orElseThrow();
  }

  /** Returns the number of calls in a slice of the row. */
  private int warmUp(StateRow row, List<BackendProcess> backends) throws IOException {
    int most = plan.calls();
    int part = Math.ceilDiv(most, WARM_UP_PARTS);
    Map<Backend, Long> nanos = new EnumMap<>(Backend.class);
    int calls = 0;
    while (calls < most
        && nanos.values().stream().allMatch(spent -> spent < StateTurn.SLICE_NANOS)) {
      int to = Math.min(calls + part, most);
      Map<Backend, List<Long>> sums = new LinkedHashMap<>();
      for (BackendProcess backend : backends) {
        WorkerCall.Pass.Done pass = backend.call(new WorkerCall.Pass(row, calls, to));
        sums.put(backend.kind(), List.of(pass.sum()));
        nanos.merge(backend.kind(), pass.nanos(), Long::sum);
      }
      checkSame(row, sums);
      calls = to;
    }
    for (BackendProcess backend : backends) {
      long spent = nanos.getOrDefault(backend.kind(), 0L);
      backend.call(new WorkerCall.WarmOn(row, calls, spent));
    }
    return calls;
  }

  /** Compares the slices that all backends have run. */
  private void checkSame(StateRow row, Map<Backend, List<Long>> sums) {
    int slices = sums.values().stream().mapToInt(List::size).min().orElse(0);
    if (sums.values().stream().map(read -> read.subList(0, slices)).distinct().count() > 1) {
      throw new WrongAnswer(
          "backends have read different things: suite="
              + suite
              + ", row="
              + row
              + ", memory="
              + memory.label()
              + ", sums="
              + sums);
    }
  }
}
