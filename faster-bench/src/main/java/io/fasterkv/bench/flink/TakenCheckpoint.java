package io.fasterkv.bench.flink;

import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.file.Path;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * A checkpoint and its cost.
 *
 * @param synchronousNanos how long the task was blocked
 * @param nanos until it was written
 * @param uploadedBytes bytes written to its directory
 */
public record TakenCheckpoint(
    KeyedStateHandle handle, long synchronousNanos, long nanos, long uploadedBytes) {

  /** The work of a task while a checkpoint is written. */
  @FunctionalInterface
  public interface Work {
    /** Does a small part of it. */
    void step() throws Exception;
  }

  /** How many files it names, with the one of its metadata. */
  public int files() {
    return handle instanceof IncrementalRemoteKeyedStateHandle incremental
        ? incremental.getSharedState().size() + incremental.getPrivateState().size() + 1
        : 1;
  }

  /** Takes a checkpoint while the task continues its work, and confirms it. */
  static TakenCheckpoint take(
      AbstractKeyedStateBackend<?> backend, long id, Path directory, Work beside) throws Exception {
    long before = WorkDirectory.bytesBelow(directory);
    long begin = System.nanoTime();
    RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
        backend.snapshot(
            id,
            id,
            OpenBackend.checkpointsIn(directory),
            CheckpointOptions.forCheckpointWithDefaultLocation());
    long synchronous = System.nanoTime() - begin;
    Thread uploader = new Thread(snapshot, "checkpoint-" + id);
    uploader.start();
    while (!snapshot.isDone()) {
      beside.step();
    }
    KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
    long nanos = System.nanoTime() - begin;
    uploader.join();
    backend.notifyCheckpointComplete(id);
    if (handle == null) {
      throw new WrongAnswer("a checkpoint is empty: id=" + id);
    }
    return new TakenCheckpoint(
        handle, synchronous, nanos, WorkDirectory.bytesBelow(directory) - before);
  }
}
