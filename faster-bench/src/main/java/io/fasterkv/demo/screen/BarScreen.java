package io.fasterkv.demo.screen;

import java.io.PrintStream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarRenderer;
import me.tongfei.progressbar.ProgressState;
import org.jspecify.annotations.Nullable;

/** Shows progress as a bar in the last line of a terminal, with events above it. */
public final class BarScreen implements Screen {
  private static final int REFRESH_MILLIS = 200;
  private static final int SHORTEST_BAR = 5;
  private static final int LONGEST_BAR = 40;
  private static final String ERASE_LINE = "\r\u001b[K";

  private final PrintStream out;
  private final int columns;
  private @Nullable ProgressBar bar;
  private boolean drawn;
  private boolean closed;

  /**
   * @param columns the width of the terminal, in characters, 20 or more
   */
  public BarScreen(PrintStream out, int columns) {
    this.out = out;
    this.columns = columns;
  }

  @Override
  public synchronized void event(String line) {
    if (drawn) {
      out.print(ERASE_LINE);
      drawn = false;
    }
    out.println(line);
    out.flush();
  }

  @Override
  public void update(Tick tick) {
    // Outside of the lock: the bar draws through it on its own thread.
    ProgressBar current = open(tick);
    if (current != null) {
      current.stepTo(tick.words());
      current.setExtraMessage(tick.text());
    }
  }

  @Override
  public void close() {
    ProgressBar current;
    synchronized (this) {
      closed = true;
      current = bar;
      if (drawn) {
        out.println();
        out.flush();
        drawn = false;
      }
    }
    if (current != null) {
      current.close();
    }
  }

  private synchronized @Nullable ProgressBar open(Tick tick) {
    if (closed || bar != null) {
      return bar;
    }
    ProgressBar opened =
        new ProgressBarBuilder()
            .setInitialMax(tick.allWords())
            .setUpdateIntervalMillis(REFRESH_MILLIS)
            .continuousUpdate()
            .setRenderer(new Renderer())
            .setConsumer(new Consumer())
            .build();
    bar = opened;
    return opened;
  }

  private synchronized void draw(String line) {
    if (!closed) {
      out.print("\r" + line + "\u001b[K");
      out.flush();
      drawn = true;
    }
  }

  /** Percentage, bar, message, with a bar as wide as the terminal has room for. */
  static final class Renderer implements ProgressBarRenderer {
    @Override
    public String render(ProgressState state, int columns) {
      double share = Math.min(1, state.getNormalizedProgress());
      String percent = String.format("%3d %% ", (int) (100 * share));
      String message = " " + state.getExtraMessage();
      int room = columns - percent.length() - message.length() - 2;
      int length = Math.min(LONGEST_BAR, room);
      String bar = "";
      if (length >= SHORTEST_BAR) {
        int full = (int) Math.round(share * length);
        bar = "[" + "#".repeat(full) + ".".repeat(length - full) + "]";
      }
      String line = percent + bar + message;
      return line.substring(0, Math.min(line.length(), columns));
    }
  }

  private final class Consumer implements ProgressBarConsumer {
    @Override
    public int getMaxRenderedLength() {
      return columns - 1;
    }

    @Override
    public void accept(String line) {
      draw(line);
    }

    @Override
    public void close() {}
  }
}
