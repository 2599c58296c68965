package io.fasterkv.demo.screen;

import java.io.PrintStream;
import java.time.Duration;

/** Shows progress as a line every few seconds, for files and pipes. */
public final class PlainScreen implements Screen {
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(3);

  private final PrintStream out;
  private long nextNanos = System.nanoTime();

  public PlainScreen(PrintStream out) {
    this.out = out;
  }

  @Override
  public void event(String line) {
    out.println(line);
  }

  @Override
  public synchronized void update(Tick tick) {
    long now = System.nanoTime();
    if (now - nextNanos >= 0) {
      nextNanos = now + BETWEEN_LINES.toNanos();
      out.printf("%3d %%  %s%n", tick.percent(), tick.text().stripTrailing());
    }
  }

  @Override
  public void close() {}
}
