package io.fasterkv;

import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Runs threads on one task until the first of them fails. If they do not end within a generous
 * time, the stacks of all threads are printed and the test fails: a hang is a failure, the duration
 * of a run is not.
 */
public final class Crew {
  private static final long PATIENCE_MILLIS = 120_000;

  /** The work of a thread. */
  public interface Work {
    void run() throws Exception;
  }

  private final List<Thread> threads = new ArrayList<>();
  private final List<Work> works = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final String title;
  private final Supplier<String> state;
  private volatile boolean isOver;

  /**
   * @param title prefix of every message; contains the seed
   * @param state describes the tested object if the threads hang
   */
  public Crew(String title, Supplier<String> state) {
    this.title = title;
    this.state = state;
  }

  public Crew add(Work work) {
    works.add(work);
    return this;
  }

  /** Whether a thread that runs as long as the others must end. */
  public boolean isOver() {
    return isOver || failure.get() != null;
  }

  /** Ends all threads; called by the thread that determines the duration. */
  public void end() {
    isOver = true;
  }

  /** Runs all threads at the same time and returns when they have ended. */
  public void run() {
    CyclicBarrier start = new CyclicBarrier(works.size());
    for (Work work : works) {
      Thread thread = new Thread(() -> guard(start, work), "crew-" + threads.size());
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
    long until = System.currentTimeMillis() + PATIENCE_MILLIS;
    for (Thread thread : threads) {
      join(thread, until);
    }
    if (failure.get() != null) {
      throw new AssertionError(title, failure.get());
    }
  }

  private void guard(CyclicBarrier start, Work work) {
    try {
      start.await();
      work.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  private void join(Thread thread, long until) {
    try {
      thread.join(Math.max(1, until - System.currentTimeMillis()));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (thread.isAlive()) {
      dump();
      fail(title + ": hangs; the stacks are in the output. First failure: " + failure.get());
    }
  }

  private void dump() {
    System.out.println(title + " hangs: " + state.get());
    for (Map.Entry<Thread, StackTraceElement[]> stack : Thread.getAllStackTraces().entrySet()) {
      System.out.println(stack.getKey());
      for (StackTraceElement frame : stack.getValue()) {
        System.out.println("    " + frame);
      }
    }
  }
}
