package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.FasterStore;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.FasterLongs;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Threads that run operations at full speed while a script takes checkpoints. */
public final class ThroughputRun {
  /** Operations between two looks at the clock: some ten microseconds. */
  private static final int CHUNK = 128;

  /** Each store has compiled code of its own, which is compiled in this time. */
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

  /** Runs concurrently with the operations. */
  @FunctionalInterface
  public interface Script {
    void play(ThroughputRun run) throws InterruptedException;
  }

  /**
   * The measurements of a run for each interval.
   *
   * @param seconds when the intervals begin
   * @param mops millions of operations a second
   * @param logMegabytes growth of the log at the interval's end, in 10^6 bytes
   */
  public record Recording(
      List<Double> seconds, List<Double> mops, List<Double> logMegabytes, List<Mark> marks) {}

  /** Runs the script while a warmed-up thread processes each stream. */
  public static Recording record(
      FasterStore store, CprPlan plan, List<KeyStream> streams, Script script) {
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
    long first = store.log().tailAddress();
    do {
      long due = (megabytes.size() + 1) * clock.intervalNanos();
      while (!clock.isOver() && clock.elapsedNanos() < due) {
        Thread.sleep(1);
      }
      megabytes.add((store.log().tailAddress() - first) / 1e6);
    } while (!clock.isOver());
    return megabytes;
  }

  /** For the script: waits until a time after the start, in units. */
  public void await(double units) throws InterruptedException {
    clock.awaitNanos(plan.nanos(units));
  }

  /** For the script: waits for a time in units. */
  public void pause(double units) throws InterruptedException {
    clock.awaitNanos(clock.elapsedNanos() + plan.nanos(units));
  }

  /** For the script: measures the throughput for a unit, and takes a checkpoint. */
  public void checkpoint(CheckpointRequest request) throws InterruptedException {
    long restBegin = System.nanoTime();
    long restCount = counts.total();
    pause(1);
    long begin = System.nanoTime();
    long beginCount = counts.total();
    store.checkpoints().take(request);
    long end = System.nanoTime();
    long endCount = counts.total();
    marks.add(
        new Mark(
            clock.seconds(begin),
            clock.seconds(end),
            (beginCount - restCount) * 1e3 / (begin - restBegin),
            (endCount - beginCount) * 1e3 / (end - begin)));
  }

  /** The last interval is incomplete; it counts only if it is also the first. */
  private Recording recording(List<Double> megabytes) {
    int intervals = Math.max(1, megabytes.size() - 1);
    return new Recording(
        clock.intervalSeconds(intervals),
        counts.mops(intervals),
        megabytes.subList(0, intervals),
        marks);
  }
}
