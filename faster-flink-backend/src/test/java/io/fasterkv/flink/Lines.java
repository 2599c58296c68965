package io.fasterkv.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A thread-safe logger that keeps its lines. */
public final class Lines implements System.Logger {
  private final List<String> lines = new ArrayList<>();

  /** The lines so far. */
  public synchronized List<String> all() {
    return List.copyOf(lines);
  }

  @Override
  public String getName() {
    return "test";
  }

  @Override
  public boolean isLoggable(Level level) {
    return true;
  }

  @Override
  public synchronized void log(
      Level level, @Nullable ResourceBundle bundle, String line, @Nullable Throwable thrown) {
    lines.add(line);
  }

  @Override
  public void log(
      Level level, @Nullable ResourceBundle bundle, String format, Object @Nullable ... params) {
    log(level, bundle, format, (Throwable) null);
  }
}
