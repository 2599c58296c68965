package io.fasterkv.bench.cpr.figures;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.RunClock;
import io.fasterkv.bench.cpr.figures.OperationTimes.LongOperation;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * Threads that time each of their operations while checkpoints of the log are taken. Sessions
 * block, so a pending operation is timed to its end.
 */
final class LatencyRun {
  private static final int CHUNK = 1024;

  /**
   * Each store has compiled code of its own, which is compiled while these checkpoints are taken.
   */
  private static final double[] WARM_UP = {0.4, 0.7, 0.9, 1.1};

  private final FasterStore store;
  private final CprPlan plan;
  private final RunClock clock;
  private final List<Pause> checkpoints = new ArrayList<>();

  /** The duration of a checkpoint. */
  private record Pause(long begin, long end) {
    boolean meets(LongOperation operation) {
      return operation.end() - begin >= 0 && end - operation.begin() >= 0;
    }
  }

  private LatencyRun(FasterStore store, CprPlan plan) {
    this.store = store;
    this.plan = plan;
    clock = new RunClock(plan.intervalNanos());
  }

  /**
   * The measurements of a run.
   *
   * @param seconds when the intervals begin
   * @param intervals the operations that ended in each interval, of all threads
   * @param longest the longest operation during each checkpoint
   * @param calm the longest operation outside all checkpoints
   */
  record Recording(
      List<Double> seconds, List<Histogram> intervals, List<Longest> longest, Longest calm) {}

  /**
   * The longest duration of an operation, in milliseconds.
   *
   * @param millis elapsed time
   * @param ownMillis without the time that the operation's thread waited for a processor
   */
  record Longest(double millis, double ownMillis) {}

  /**
   * Runs upserts or RMWs of the streams.
   *
   * @param times when checkpoints are taken, in units; the last is the end, without one
   */
  static Recording record(
      FasterStore store, CprPlan plan, List<KeyStream> streams, double... times) {
    play(store, plan, streams, WARM_UP);
    return play(store, plan, streams, times);
  }

  private static Recording play(
      FasterStore store, CprPlan plan, List<KeyStream> streams, double... times) {
    LatencyRun run = new LatencyRun(store, plan);
    int workers = streams.size();
    List<OperationTimes> all = Collections.synchronizedList(new ArrayList<>());
    Parallel.run(
        workers + 1,
        thread ->
            (Callable<Void>)
                () -> {
                  try {
                    if (thread < workers) {
                      all.add(run.work(streams.get(thread)));
                    } else {
                      run.script(times);
                    }
                    return null;
                  } finally {
                    run.clock.stop();
                  }
                });
    return run.recording(all);
  }

  private OperationTimes work(KeyStream stream) throws IOException {
    try (ProcessorQueue queue = ProcessorQueue.open();
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      OperationTimes times = new OperationTimes(clock, queue);
      int at = 0;
      while (!clock.isOver()) {
        int to = Math.min(at + CHUNK, stream.length());
        if (stream.workload().kind() == Workload.Kind.UPSERT) {
          upserts(session, stream, at, to, times);
        } else {
          updates(session, stream, at, to, times);
        }
        at = to == stream.length() ? 0 : to;
      }
      return times;
    }
  }

  private static void upserts(
      LongSession<Void> session, KeyStream stream, int from, int to, OperationTimes times) {
    long[] keys = stream.keys();
    long[] values = stream.values();
    long begin = System.nanoTime();
    for (int i = from; i < to; i++) {
      session.upsert(keys[i], values[i], null);
      begin = times.note(begin, System.nanoTime());
    }
  }

  private static void updates(
      LongSession<Void> session, KeyStream stream, int from, int to, OperationTimes times) {
    long[] keys = stream.keys();
    long begin = System.nanoTime();
    for (int i = from; i < to; i++) {
      session.rmw(keys[i], 1, null);
      begin = times.note(begin, System.nanoTime());
    }
  }

  private void script(double... times) throws InterruptedException {
    for (int i = 0; i < times.length; i++) {
      clock.awaitNanos(plan.nanos(times[i]));
      if (i + 1 < times.length) {
        long begin = System.nanoTime();
        store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
        checkpoints.add(new Pause(begin, System.nanoTime()));
      }
    }
  }

  private Recording recording(List<OperationTimes> all) {
    List<Histogram> intervals = new ArrayList<>();
    for (OperationTimes times : all) {
      for (int i = 0; i < times.intervals().size(); i++) {
        if (i == intervals.size()) {
          intervals.add(OperationTimes.newHistogram());
        }
        intervals.get(i).add(times.intervals().get(i));
      }
    }
    return new Recording(
        clock.intervalSeconds(intervals.size()),
        intervals,
        checkpoints.stream().map(pause -> longest(all, pause::meets)).toList(),
        longest(all, each -> checkpoints.stream().noneMatch(pause -> pause.meets(each))));
  }

  private static Longest longest(List<OperationTimes> all, Predicate<LongOperation> which) {
    List<LongOperation> chosen =
        all.stream().flatMap(times -> times.longOnes().stream()).filter(which).toList();
    return new Longest(
        most(chosen, LongOperation::nanos) / 1e6, most(chosen, LongOperation::ownNanos) / 1e6);
  }

  /** 0 if none took a tenth of a millisecond. */
  private static long most(List<LongOperation> chosen, ToLongFunction<LongOperation> nanos) {
    return chosen.stream().mapToLong(nanos).max().orElse(0);
  }
}
