package io.fasterkv.api;

/** Told of each checkpoint when it is durable. */
@FunctionalInterface
public interface CommitListener {
  /**
   * Runs on the thread that took the checkpoint, before that returns; one commit at a time, in
   * their order. What it throws reaches that thread; the checkpoint stays.
   */
  void committed(Commit commit);

  /** Ends when it is closed. */
  interface Registration extends AutoCloseable {
    @Override
    void close();
  }
}
