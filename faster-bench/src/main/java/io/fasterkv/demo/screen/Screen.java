package io.fasterkv.demo.screen;

/** Where progress is shown. Safe for use by several threads. */
public interface Screen extends AutoCloseable {
  /** Shows an event. */
  void event(String line);

  /** Shows the current progress. */
  void update(Tick tick);

  /** Ends the progress display; later output appears below it. */
  @Override
  void close();
}
