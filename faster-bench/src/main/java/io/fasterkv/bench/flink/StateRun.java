package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.ycsb.WrongAnswer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeutils.base.LongSerializer;

/**
 * One suite with one setting of memory: loads all backends, warms every row up, then lets the
 * backends take turns, row after row and round after round. They do the same to the same keys, and
 * must read the same. The warm-up lasts for as long with each backend at least, and says how long a
 * slice of a row is: as many calls as the slowest of the backends can do in a few seconds. A turn
 * begins when all is quiet.
 */
final class StateRun {
  /**
   * What the slowest backend may take for a slice, with what brings the state back after it; a turn
   * that has taken that long has no further slice.
   */
  private static final long SLICE_NANOS = 3_000_000_000L;

  /** The warm-up is made in so many parts, to stop where the time is over. */
  private static final int WARM_UP_PARTS = 500;

  private final FlinkPlan plan;
  private final Suite suite;
  private final MemorySetting memory;
  private final List<StateRow> rows;
  private final StateData data;

  StateRun(FlinkPlan plan, Suite suite, MemorySetting memory, List<StateRow> rows) {
    this.plan = plan;
    this.suite = suite;
    this.memory = memory;
    this.rows = rows.stream().filter(row -> row.isOf(suite)).toList();
    this.data = plan.data();
  }

  /** How often {@link #run} says that a step has ended. */
  int steps() {
    return plan.backends().size() * (1 + rows.size() * (plan.rounds() + 1));
  }

  /**
   * Runs it.
   *
   * @throws WrongAnswer if two backends have read different things
   */
  List<StateResult> run(WorkDirectory work, Progress progress) throws Exception {
    Path directory = work.directory(suite + "-" + memory.label());
    Map<Backend, OpenBackend<Long>> opened = new LinkedHashMap<>();
    try {
      Map<Backend, StateLoops> loops = new LinkedHashMap<>();
      for (Backend kind : plan.backends()) {
        progress.begin("loading " + kind + ", " + suite + ", memory " + memory.label());
        OpenBackend<Long> backend =
            OpenBackend.open(
                kind,
                LongSerializer.INSTANCE,
                memoryBytes(),
                directory.resolve(kind.toString()),
                TtlTime.STANDING,
                OpenBackend.wholeRange(),
                List.of());
        opened.put(kind, backend);
        StateLoops own = OwnLoops.of(suite, data, backend);
        own.load();
        loops.put(kind, own);
        progress.step();
      }
      return rounds(loops, progress);
    } finally {
      for (OpenBackend<Long> backend : opened.values()) {
        backend.close();
      }
      work.delete(directory);
    }
  }

  private long memoryBytes() {
    return memory.bytesFor(plan.stateBytes(suite));
  }

  private List<StateResult> rounds(Map<Backend, StateLoops> loops, Progress progress)
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
      calls.put(row, warmUp(row, loops));
      plan.backends().forEach(kind -> progress.step());
    }
    for (int round : IntStream.rangeClosed(1, plan.rounds()).toArray()) {
      data.reorder();
      for (StateRow row : rows) {
        Map<Backend, List<Long>> sums = new LinkedHashMap<>();
        for (StateResult result : ofRow(results, row, round)) {
          progress.begin("round " + round + ", " + result.label() + ", " + result.backend());
          int from = Math.floorMod(round * 99_991, data.size());
          sums.put(result.backend(), turn(result, loops, from, calls.getOrDefault(row, 1)));
          progress.step();
        }
        checkSame(row, sums);
      }
    }
    return results;
  }

  /** Another backend is first in each round: a turn is after somebody else's. */
  private static List<StateResult> ofRow(List<StateResult> results, StateRow row, int round) {
    List<StateResult> of =
        new ArrayList<>(results.stream().filter(result -> result.row() == row).toList());
    Collections.rotate(of, round);
    return of;
  }

  /** Returns how many calls a slice of the row has. */
  private int warmUp(StateRow row, Map<Backend, StateLoops> loops) throws Exception {
    int most = Math.max(1, plan.calls() / row.shrink());
    int part = Math.ceilDiv(most, WARM_UP_PARTS);
    Map<Backend, Long> nanos = new EnumMap<>(Backend.class);
    int calls = 0;
    while (calls < most && nanos.values().stream().allMatch(spent -> spent < SLICE_NANOS)) {
      int to = Math.min(calls + part, most);
      Map<Backend, List<Long>> sums = new LinkedHashMap<>();
      for (Map.Entry<Backend, StateLoops> own : loops.entrySet()) {
        long begin = System.nanoTime();
        sums.put(own.getKey(), List.of(own.getValue().run(row, calls, to)));
        own.getValue().restore(row, calls, to);
        nanos.merge(own.getKey(), System.nanoTime() - begin, Long::sum);
      }
      checkSame(row, sums);
      calls = to;
    }
    for (Map.Entry<Backend, StateLoops> own : loops.entrySet()) {
      if (row.leavesChanges()) {
        // Turns are of different lengths, and the state must be the same after any.
        own.getValue().run(row, calls, data.size());
        own.getValue().restore(row, calls, data.size());
      }
      warmOn(row, own.getValue(), calls, nanos.getOrDefault(own.getKey(), 0L));
    }
    return calls;
  }

  /**
   * Goes on with a backend that was quicker than others; the state is as it was after each pass.
   */
  private void warmOn(StateRow row, StateLoops own, int calls, long spentNanos) throws Exception {
    long spent = spentNanos;
    while (spent < plan.warmNanos()) {
      long begin = System.nanoTime();
      own.run(row, 0, calls);
      own.restore(row, 0, calls);
      spent += System.nanoTime() - begin;
    }
  }

  /**
   * Measures one backend. It works for as long ahead, so that it is measured under what it has put
   * off itself, and under nothing that others have. Returns what its slices have read.
   */
  private List<Long> turn(StateResult result, Map<Backend, StateLoops> loops, int from, int calls)
      throws Exception {
    StateLoops own = loops.get(result.backend());
    if (own == null) {
      throw new IllegalStateException("not loaded: backend=" + result.backend());
    }
    StateTurn turn = new StateTurn(plan, result.row(), own, from, calls);
    if (plan.turnNanos() > 0) {
      if (!Quiet.await()) {
        turn.disturbed();
      }
      turn.run(SLICE_NANOS);
    }
    result.turns().add(turn.run(SLICE_NANOS));
    return turn.sums();
  }

  /** Compares the slices that all have run. */
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
