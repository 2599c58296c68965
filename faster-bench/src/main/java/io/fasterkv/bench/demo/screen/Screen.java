package io.fasterkv.bench.demo.screen;

/** Where progress is shown. Safe for use by several threads. */
public interface Screen extends AutoCloseable {
  /** Tells that something has happened. */
  void event(String line);

  /** Shows how far the run is now. */
  void update(Tick tick);

  /** Ends the progress for good; what is printed from now on stands below it. */
  @Override
  void close();
}
