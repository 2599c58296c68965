package io.fasterkv.bench.report;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Prints the table of a run once: when the run ends, successfully or not, or when Ctrl-C or SIGTERM
 * stops the process first. The rows are added by one thread and read by another, so the command
 * keeps them in a collection for several threads.
 */
public final class TableAtEnd implements AutoCloseable {
  private final Supplier<String> table;
  private final Thread hook;
  private volatile boolean isStopped;
  private final AtomicBoolean isPrinted = new AtomicBoolean();

  private TableAtEnd(Supplier<String> table, Runnable onStop) {
    this.table = table;
    hook = new Thread(() -> stopped(onStop), "table-at-end");
  }

  /**
   * Starts a run.
   *
   * @param table of the rows so far; blank while there are none
   */
  public static TableAtEnd of(Supplier<String> table) {
    return of(table, () -> {});
  }

  /**
   * Starts a run that has more to do when the process is told to stop.
   *
   * @param onStop ends, for example, processes of the run
   */
  public static TableAtEnd of(Supplier<String> table, Runnable onStop) {
    TableAtEnd atEnd = new TableAtEnd(table, onStop);
    Runtime.getRuntime().addShutdownHook(atEnd.hook);
    return atEnd;
  }

  /** Whether the process is being stopped; a failure from then on is a consequence of that. */
  public boolean isStopped() {
    return isStopped;
  }

  /** Runs in the hook: while the process ends, the main thread may still measure. */
  void stopped(Runnable onStop) {
    isStopped = true;
    print();
    onStop.run();
  }

  private void print() {
    if (isPrinted.compareAndSet(false, true)) {
      String text = table.get();
      if (!text.isBlank()) {
        System.out.println(text);
        System.out.flush();
      }
    }
  }

  /** Prints the table, unless the process is being stopped and has printed it. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // the hook is running
    }
    print();
  }
}
