package io.fasterkv;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A logger that keeps its lines, each with its level. Safe for all threads. */
public final class Lines implements System.Logger {
  private final List<String> lines = new ArrayList<>();

  /** The lines so far. */
  public synchronized List<String> all() {
    return List.copyOf(lines);
  }

  /** Number of lines with this prefix. */
  public long count(String start) {
    return all().stream().filter(line -> line.startsWith(start)).count();
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
    lines.add(level + " " + line);
  }

  @Override
  public void log(
      Level level, @Nullable ResourceBundle bundle, String format, Object @Nullable ... params) {
    if (params != null && params.length > 0) {
      throw new AssertionError("lines of the store take no parameters: " + format);
    }
    log(level, bundle, format, (Throwable) null);
  }
}
