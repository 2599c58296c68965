package io.fasterkv.bench.store;

/** A store that is measured. Safe for all threads; each thread opens its own session. */
public interface BenchStore extends AutoCloseable {

  /**
   * Opens a session for one thread.
   *
   * @param batch how many operations it hands to the store at a time; 1 for stores without batches
   */
  BenchSession newSession(int batch);

  /** Gives everything back; all sessions are closed before. */
  @Override
  void close();
}
