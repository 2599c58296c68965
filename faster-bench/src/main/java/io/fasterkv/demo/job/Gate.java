package io.fasterkv.demo.job;

import java.util.concurrent.CompletableFuture;

/**
 * Limits how far the sources may read.
 *
 * <p>It never stops a large input; it keeps a small one from ending before the first checkpoint or
 * the savepoint, so that every run shows all steps.
 */
public final class Gate {
  private volatile long limit;
  private CompletableFuture<Void> raised = new CompletableFuture<>();

  Gate(long limit) {
    this.limit = limit;
  }

  /** Says whether one more word may be read after {@code words} of them. */
  public boolean admits(long words) {
    return words < limit;
  }

  /** Completes when {@link #admits} may have become true. */
  public synchronized CompletableFuture<Void> whenAdmits(long words) {
    return admits(words) ? CompletableFuture.completedFuture(null) : raised;
  }

  /** Moves the limit to {@code words} if it is lower. */
  public void raise(long words) {
    CompletableFuture<Void> before;
    synchronized (this) {
      if (words <= limit) {
        return;
      }
      limit = words;
      before = raised;
      raised = new CompletableFuture<>();
    }
    before.complete(null);
  }
}
