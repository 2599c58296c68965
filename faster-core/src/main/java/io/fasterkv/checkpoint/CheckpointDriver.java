package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.Engine.Cut;
import java.io.IOException;
import java.util.TreeMap;

/**
 * Takes checkpoints while sessions go on.
 *
 * <p>First the log is cut. When every thread has seen that, nothing below the cut changes any more,
 * neither a record nor the chain that it is in; that is then made durable.
 */
public final class CheckpointDriver {
  private final Engine engine;
  private final KeptCheckpoints kept;
  private final CheckpointWriter writer;

  public CheckpointDriver(Engine engine, KeptCheckpoints kept, CheckpointWriter writer) {
    this.engine = engine;
    this.kept = kept;
    this.writer = writer;
  }

  /** Takes a checkpoint; returns when it is durable. The caller is not protected. */
  public CheckpointToken take(CheckpointRequest request) {
    // One at a time, and not beside a resize: the image is of one table.
    engine.index().sizeLock().lock();
    try {
      // What is moved to the tail after the cut is still at its old place in the checkpoint.
      Cut cut = engine.cut();
      try {
        long number = kept.nextNumber();
        VersionCut version =
            new VersionCut(number, cut.begin(), cut.end(), cut.end(), new TreeMap<>());
        return writer.write(number, request, version);
      } finally {
        engine.log().unpin(cut.begin());
      }
    } catch (IOException e) {
      throw new DeviceFailed("a checkpoint could not be written: " + e.getMessage(), e);
    } finally {
      engine.index().sizeLock().unlock();
    }
  }
}
