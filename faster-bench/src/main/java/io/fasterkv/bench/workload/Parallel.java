package io.fasterkv.bench.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntFunction;

/** Runs tasks concurrently, each on a platform thread of its own. */
public final class Parallel {
  private Parallel() {}

  /** Runs the tasks 0 to {@code threads - 1} at the same time; throws the first failure. */
  public static <T> List<T> run(int threads, IntFunction<Callable<T>> tasks) {
    List<FutureTask<T>> running = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      FutureTask<T> task = new FutureTask<>(tasks.apply(thread));
      running.add(task);
      Thread.ofPlatform().name("bench-" + thread).daemon().start(task);
    }
    List<T> results = new ArrayList<>();
    for (FutureTask<T> task : running) {
      results.add(result(task));
    }
    return results;
  }

  private static <T> T result(FutureTask<T> task) {
    try {
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw new IllegalStateException("a benchmark thread failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while measuring", e);
    }
  }
}
