package io.fasterkv.inject;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** Counts visits of points, and throws at the points that an {@link Order} selects. */
final class Injector implements Hooks.Plan {
  private static final int MOST_POINTS = 1 << 16;
  private static final String MARK = "injected: ";

  /** Represents an OutOfMemoryError for whose wrapper there was no memory. */
  private static final String HEAP_FULL = "the Java heap is full";

  private final AtomicIntegerArray visits = new AtomicIntegerArray(MOST_POINTS);
  private final AtomicLong matching = new AtomicLong();
  private final AtomicLong thrown = new AtomicLong();
  private final Order order;
  private volatile boolean hasThrown;
  private volatile String firstStack = "";

  Injector(Order order) {
    this.order = order;
  }

  @Override
  public void visit(int point) {
    visits.incrementAndGet(point);
    if (order.visit() == 0 || !order.hits().test(point)) {
      return;
    }
    long number = matching.incrementAndGet();
    if (number >= order.visit() && number < order.visit() + order.times()) {
      Error error = error(point, number);
      if (thrown.getAndIncrement() == 0) {
        firstStack = Stacks.of(error);
      }
      hasThrown = true;
      throw error;
    }
  }

  private Error error(int point, long visit) {
    String message = MARK + "point=" + point + ", visit=" + visit;
    if (order.error() == OutOfMemoryError.class) {
      return new OutOfMemoryError(message);
    }
    return order.error() == StackOverflowError.class
        ? new StackOverflowError(message)
        : new AssertionError(message);
  }

  /** Whether a thrown object is an injected Error, or was caused by one. */
  static boolean isCauseOf(Throwable thrown) {
    return isCauseOf(thrown, 0);
  }

  private static boolean isCauseOf(Throwable thrown, int depth) {
    if (thrown == null || depth > 20) {
      return false;
    }
    String message = String.valueOf(thrown.getMessage());
    if ((thrown instanceof Error && message.startsWith(MARK)) || message.contains(HEAP_FULL)) {
      return true;
    }
    for (Throwable suppressed : thrown.getSuppressed()) {
      if (isCauseOf(suppressed, depth + 1)) {
        return true;
      }
    }
    return isCauseOf(thrown.getCause(), depth + 1);
  }

  boolean hasThrown() {
    return hasThrown;
  }

  int thrown() {
    return (int) thrown.get();
  }

  /** The stack trace of the first Error thrown. */
  String firstStack() {
    return firstStack;
  }

  int[] visits() {
    int[] counts = new int[MOST_POINTS];
    for (int i = 0; i < MOST_POINTS; i++) {
      counts[i] = visits.get(i);
    }
    return counts;
  }
}
