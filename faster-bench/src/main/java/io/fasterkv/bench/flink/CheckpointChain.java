package io.fasterkv.bench.flink;

import io.fasterkv.bench.flink.TakenCheckpoint.Work;
import java.nio.file.Path;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.jspecify.annotations.Nullable;

/**
 * The checkpoints of one backend, of which the newest is kept. Flink's registry decides which files
 * of older ones it needs. For one thread.
 */
public final class CheckpointChain {
  private final AbstractKeyedStateBackend<?> backend;
  private final Path directory;
  private final SharedStateRegistry registry = new SharedStateRegistryImpl();
  private @Nullable TakenCheckpoint last;
  private long id;

  /**
   * @param directory where checkpoints are written
   */
  public CheckpointChain(AbstractKeyedStateBackend<?> backend, Path directory) {
    this.backend = backend;
    this.directory = directory;
  }

  /** Takes the next checkpoint concurrently with some work, and discards the one before it. */
  public TakenCheckpoint next(Work beside) throws Exception {
    id++;
    TakenCheckpoint taken = TakenCheckpoint.take(backend, id, directory, beside);
    taken.handle().registerSharedStates(registry, id);
    if (last != null) {
      last.handle().discardState();
    }
    registry.unregisterUnusedState(id);
    last = taken;
    return taken;
  }

  /** The newest checkpoint. */
  public TakenCheckpoint last() {
    if (last == null) {
      throw new IllegalStateException("no checkpoint was taken");
    }
    return last;
  }

  /** The registry, which knows the files that are still needed. */
  SharedStateRegistry registry() {
    return registry;
  }
}
