package io.fasterkv.bench.store;

/** A store to be measured. Safe for all threads; each thread opens its own session. */
public interface BenchStore extends AutoCloseable {

  /**
   * Opens a session for one thread.
   *
   * @param batch number of operations in each call of the store; 1 for stores without batches
   */
  BenchSession newSession(int batch);

  /** Releases everything; all sessions must be closed. */
  @Override
  void close();
}
