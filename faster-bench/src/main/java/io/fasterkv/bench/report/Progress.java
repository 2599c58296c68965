package io.fasterkv.bench.report;

import java.io.PrintStream;
import java.time.Duration;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shows the progress of a run on the error output, so that the results can be piped: a bar in a
 * terminal, occasional lines elsewhere.
 */
public final class Progress implements AutoCloseable {
  private static final int REFRESH_MILLIS = 200;
  private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

  private final @Nullable ProgressBar bar;
  private final PrintStream lines;
  private final long steps;
  private long done;
  private long lastLine = System.nanoTime() - QUIET_NANOS;

  private Progress(@Nullable ProgressBar bar, PrintStream lines, long steps) {
    this.bar = bar;
    this.lines = lines;
    this.steps = steps;
  }

  /** Starts the display; the launcher has said what the error output is. */
  public static Progress start(String task, long steps) {
    if (!Boolean.getBoolean("io.fasterkv.bench.terminal")) {
      return new Progress(null, System.err, steps);
    }
    int columns = Math.max(20, Integer.getInteger("io.fasterkv.bench.columns", 100));
    return new Progress(
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(steps)
            .setUpdateIntervalMillis(REFRESH_MILLIS)
            .setStyle(ProgressBarStyle.ASCII)
            .setConsumer(new ConsoleProgressBarConsumer(System.err, columns - 1))
            .build(),
        System.err,
        steps);
  }

  /** Shows what begins now. */
  public void begin(String what) {
    if (bar != null) {
      bar.setExtraMessage(" " + what);
      return;
    }
    long now = System.nanoTime();
    if (now - lastLine >= QUIET_NANOS) {
      lines.println("[" + done + "/" + steps + "] " + what);
      lastLine = now;
    }
  }

  /** Counts a step that has ended. */
  public void step() {
    done++;
    if (bar != null) {
      bar.step();
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
