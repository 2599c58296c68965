package io.fasterkv.bench.ycsb;

import com.sun.management.ThreadMXBean;
import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.BenchStore;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Parallel;
import io.fasterkv.bench.workload.WrongAnswer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;

/**
 * One row, timed once: every thread processes its own keys with its own session until the time is
 * over, and completes pending operations before it reads the clock for the last time.
 *
 * @param store the store to measure
 * @param streams the keys of each thread
 * @param batch number of operations in each call of the store
 * @param duration how long
 * @param start index in their streams where the threads begin, 0 or more
 */
public record Slice(
    BenchStore store, List<KeyStream> streams, int batch, Duration duration, long start) {
  /** Operations between two reads of the clock. */
  private static final int CHUNK = 1024;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** The result of all threads. */
  public record Outcome(double mops, double bytesPerOp, long operations) {}

  private record Part(long operations, long nanos, long allocatedBytes) {}

  /** Runs it. */
  public Outcome run() {
    CyclicBarrier ready = new CyclicBarrier(streams.size());
    List<Part> parts =
        Parallel.run(
            streams.size(),
            (int thread) -> (Callable<Part>) () -> part(streams.get(thread), ready));
    double mops = 0;
    long operations = 0;
    long allocated = 0;
    for (Part part : parts) {
      mops += part.operations * 1e3 / part.nanos;
      operations += part.operations;
      allocated += part.allocatedBytes;
    }
    return new Outcome(mops, (double) allocated / operations, operations);
  }

  private Part part(KeyStream stream, CyclicBarrier ready)
      throws InterruptedException, BrokenBarrierException {
    try (BenchSession session = store.newSession(batch)) {
      long before = session.fingerprints();
      int first = (int) (start * CHUNK % stream.length());
      ready.await();
      Part part = timed(session, stream, first);
      long found = session.fingerprints() - before;
      long expected = stream.expectedFingerprints(first, part.operations);
      if (found != expected) {
        throw new WrongAnswer(
            "timed reads have not returned what was written: sum of fingerprints="
                + found
                + ", allowed="
                + expected
                + ", operations="
                + part.operations);
      }
      return part;
    }
  }

  private Part timed(BenchSession session, KeyStream stream, int first) {
    long allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
    long begin = System.nanoTime();
    long end = begin + duration.toNanos();
    long operations = 0;
    int at = first;
    do {
      int to = Math.min(at + CHUNK, stream.length());
      session.go(stream, at, to);
      operations += to - at;
      at = to == stream.length() ? 0 : to;
    } while (System.nanoTime() - end < 0);
    session.settle();
    long nanos = System.nanoTime() - begin;
    return new Part(operations, nanos, THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore);
  }
}
