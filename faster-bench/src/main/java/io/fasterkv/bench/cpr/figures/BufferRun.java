package io.fasterkv.bench.cpr.figures;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.Commit;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.OperationCounts;
import io.fasterkv.bench.cpr.experiment.RunClock;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Clients that keep their requests until a commit, and commits at their request. */
final class BufferRun {
  private static final int CHUNK = 64;
  private static final int PATIENCE_MILLIS = 10;

  private final FasterStore store;
  private final List<KeyStream> streams;
  private final RunClock clock;
  private final OperationCounts counts;
  private final Semaphore asked = new Semaphore(0);
  private final List<ClientBuffer> buffers = new ArrayList<>();
  private final String names;
  private final List<Double> commitMillis = new ArrayList<>();

  private BufferRun(FasterStore store, CprPlan plan, List<KeyStream> streams, long bufferBytes) {
    this.store = store;
    this.streams = streams;
    clock = new RunClock(plan.intervalNanos());
    names = "client-of-" + bufferBytes + "-bytes-";
    counts = new OperationCounts(clock, streams.size());
    for (int client = 0; client < streams.size(); client++) {
      buffers.add(new ClientBuffer(bufferBytes, this::ask, clock));
    }
  }

  /**
   * The result of a run.
   *
   * @param mops millions of operations a second
   * @param commits number of commits
   * @param commitMillis average duration of a commit; 0 if there was none
   * @param intervalMillis time from one commit to the next
   */
  record Result(double mops, int commits, double commitMillis, double intervalMillis) {}

  /** Runs a client for each stream of reads and upserts, for some units of time. */
  static Result run(
      FasterStore store,
      CprPlan plan,
      List<KeyStream> streams,
      long bufferBytes,
      double warmUp,
      double units) {
    BufferRun run = new BufferRun(store, plan, streams, bufferBytes);
    AutoCloseable listening = store.checkpoints().onCommit(run::trim);
    try {
      return run.play(plan, warmUp, units);
    } finally {
      close(listening);
    }
  }

  private static void close(AutoCloseable listening) {
    try {
      listening.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("a listener cannot be taken away", e);
    }
  }

  private Result play(CprPlan plan, double warmUp, double units) {
    int clients = streams.size();
    List<Double> results =
        Parallel.run(
            clients + 2,
            thread ->
                (Callable<Double>)
                    () -> {
                      try {
                        if (thread < clients) {
                          client(thread);
                        } else if (thread == clients) {
                          return measure(plan.nanos(warmUp), plan.nanos(units));
                        } else {
                          commit();
                        }
                        return 0.0;
                      } finally {
                        clock.stop();
                      }
                    });
    double all = plan.nanos(warmUp + units) / 1e6;
    int commits = commitMillis.size();
    double mean = commitMillis.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    return new Result(results.get(clients), commits, mean, commits == 0 ? 0 : all / commits);
  }

  private void ask() {
    if (asked.availablePermits() == 0) {
      asked.release();
    }
  }

  private void client(int thread) {
    KeyStream stream = streams.get(thread);
    ClientBuffer buffer = buffers.get(thread);
    try (LongSession<Void> session =
        store
            .newSession()
            .identity(SessionIdentity.start(name(thread)))
            .longs(LongFunctions.sum())) {
      int at = 0;
      boolean goesOn = true;
      while (goesOn && !clock.isOver()) {
        int to = Math.min(at + CHUNK, stream.length());
        goesOn = requests(session, stream, at, to, buffer);
        counts.add(thread, to - at);
        at = to == stream.length() ? 0 : to;
      }
    }
  }

  private static boolean requests(
      LongSession<Void> session, KeyStream stream, int from, int to, ClientBuffer buffer) {
    long[] keys = stream.keys();
    long[] values = stream.values();
    for (int i = from; i < to; i++) {
      if (!buffer.keep(keys[i], values[i])) {
        return false;
      }
      if (KeyStream.isWrite(keys[i])) {
        session.upsert(KeyStream.key(keys[i]), values[i], null);
      } else {
        session.read(keys[i], null);
      }
    }
    return true;
  }

  private void commit() throws InterruptedException {
    while (!clock.isOver()) {
      if (asked.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        long begin = System.nanoTime();
        store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
        commitMillis.add((System.nanoTime() - begin) / 1e6);
      }
    }
  }

  /** Each request is one operation of its client's session, so commit points count requests. */
  private void trim(Commit commit) {
    for (int client = 0; client < buffers.size(); client++) {
      CommitPoint point = commit.points().get(name(client));
      if (point != null) {
        buffers.get(client).trim(point.serial());
      }
    }
  }

  private String name(int client) {
    return names + client;
  }

  private double measure(long warmUpNanos, long nanos) throws InterruptedException {
    clock.awaitNanos(warmUpNanos);
    long begin = System.nanoTime();
    long before = counts.total();
    clock.awaitNanos(warmUpNanos + nanos);
    return (counts.total() - before) * 1e3 / (System.nanoTime() - begin);
  }
}
