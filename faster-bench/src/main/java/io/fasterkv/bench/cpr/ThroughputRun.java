package io.fasterkv.bench.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.FasterLongs;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Threads that do operations as fast as they can while a script takes checkpoints. */
final class ThroughputRun {
  /** Operations between two looks at the clock: some ten microseconds. */
  private static final int CHUNK = 128;

  /** Each store has compiled code of its own, which is made while this passes. */
  private static final double WARM_UP = 0.7;

  private final FasterStore store;
  private final FasterLongs sessions;
  private final CprPlan plan;
  private final List<KeyStream> streams;
  private final RunClock clock;
  private final OperationCounts counts;
  private final List<Mark> marks = new ArrayList<>();

  private ThroughputRun(FasterStore store, CprPlan plan, List<KeyStream> streams) {
    this.store = store;
    sessions = new FasterLongs(store);
    this.plan = plan;
    this.streams = streams;
    clock = new RunClock(plan.intervalNanos());
    counts = new OperationCounts(clock, streams.size());
  }

  /** What is done beside the operations. */
  @FunctionalInterface
  interface Script {
    void play(ThroughputRun run) throws InterruptedException;
  }

  /**
   * What a run has shown, interval by interval.
   *
   * @param seconds when the intervals begin
   * @param mops millions of operations a second
   * @param logMegabytes how much the log had grown at the interval's end, in 10^6 bytes
   */
  record Recording(
      List<Double> seconds, List<Double> mops, List<Double> logMegabytes, List<Mark> marks) {}

  /** Plays the script while every stream is gone through by a thread, which is warm by then. */
  static Recording record(FasterStore store, CprPlan plan, List<KeyStream> streams, Script script) {
    play(store, plan, streams, run -> run.await(WARM_UP));
    return play(store, plan, streams, script);
  }

  private static Recording play(
      FasterStore store, CprPlan plan, List<KeyStream> streams, Script script) {
    ThroughputRun run = new ThroughputRun(store, plan, streams);
    int workers = streams.size();
    List<List<Double>> results =
        Parallel.run(
            workers + 2,
            thread ->
                (Callable<List<Double>>)
                    () -> {
                      try {
                        if (thread < workers) {
                          run.work(thread);
                        } else if (thread == workers) {
                          script.play(run);
                        } else {
                          return run.watchLog();
                        }
                        return List.of();
                      } finally {
                        run.clock.stop();
                      }
                    });
    return run.recording(results.getLast());
  }

  private void work(int thread) {
    KeyStream stream = streams.get(thread);
    try (BenchSession session = sessions.newSession(1)) {
      int at = 0;
      while (!clock.isOver()) {
        int to = Math.min(at + CHUNK, stream.length());
        session.go(stream, at, to);
        counts.add(thread, to - at);
        at = to == stream.length() ? 0 : to;
      }
      session.settle();
    }
  }

  private List<Double> watchLog() throws InterruptedException {
    List<Double> megabytes = new ArrayList<>();
    long first = store.tailAddress();
    do {
      long due = (megabytes.size() + 1) * clock.intervalNanos();
      while (!clock.isOver() && clock.elapsedNanos() < due) {
        Thread.sleep(1);
      }
      megabytes.add((store.tailAddress() - first) / 1e6);
    } while (!clock.isOver());
    return megabytes;
  }

  /** For the script: waits until so many units after the begin. */
  void await(double units) throws InterruptedException {
    clock.awaitNanos(plan.nanos(units));
  }

  /** For the script: waits so many units. */
  void pause(double units) throws InterruptedException {
    clock.awaitNanos(clock.elapsedNanos() + plan.nanos(units));
  }

  /** For the script: watches the throughput for a unit, and takes a checkpoint. */
  void checkpoint(CheckpointRequest request) throws InterruptedException {
    long restBegin = System.nanoTime();
    long restCount = counts.total();
    pause(1);
    long begin = System.nanoTime();
    long beginCount = counts.total();
    store.checkpoint(request);
    long end = System.nanoTime();
    long endCount = counts.total();
    marks.add(
        new Mark(
            clock.seconds(begin),
            clock.seconds(end),
            (beginCount - restCount) * 1e3 / (begin - restBegin),
            (endCount - beginCount) * 1e3 / (end - begin)));
  }

  /** The last interval is not whole; it counts only if it is the first. */
  private Recording recording(List<Double> megabytes) {
    int intervals = Math.max(1, megabytes.size() - 1);
    return new Recording(
        clock.intervalSeconds(intervals),
        counts.mops(intervals),
        megabytes.subList(0, intervals),
        marks);
  }
}
