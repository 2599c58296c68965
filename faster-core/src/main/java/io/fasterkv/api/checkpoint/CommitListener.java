package io.fasterkv.api.checkpoint;

/** Is notified of each checkpoint once it is durable. */
@FunctionalInterface
public interface CommitListener {
  /**
   * Handles one checkpoint. Runs on the thread that takes the checkpoint, before that call returns.
   * The store calls it for one commit at a time, in commit order. An exception that it throws
   * propagates to that thread; the checkpoint remains valid.
   *
   * @param commit the version that has become durable
   */
  void committed(Commit commit);

  /** Keeps a listener registered until it is closed. */
  interface Registration extends AutoCloseable {
    @Override
    void close();
  }
}
