package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.FullSnapshotAsyncWriter;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.StreamCompressionDecorator;

/**
 * Full checkpoints: the synchronous part only takes a cut of the log; sorting and writing are
 * asynchronous, and several may run at a time. Each checkpoint is self-contained.
 *
 * @param <K> type of the keys
 */
public final class FasterSnapshotStrategy<K>
    implements SnapshotStrategy<KeyedStateHandle, FasterSnapshotResources<K>> {
  private final LocalStore local;
  private final KeySpace<K> keys;
  private final StateRegistry states;
  private final ValueIncarnations incarnations;
  private final TimerQueues timers;
  private final StreamCompressionDecorator compression;

  public FasterSnapshotStrategy(
      LocalStore local,
      KeySpace<K> keys,
      StateRegistry states,
      ValueIncarnations incarnations,
      TimerQueues timers,
      StreamCompressionDecorator compression) {
    this.local = local;
    this.keys = keys;
    this.states = states;
    this.incarnations = incarnations;
    this.timers = timers;
    this.compression = compression;
  }

  /** Takes a snapshot; on the task thread. */
  public FasterSnapshotResources<K> take() throws IOException {
    return new FasterSnapshotResources<>(local, keys, states, incarnations, timers, compression);
  }

  @Override
  public FasterSnapshotResources<K> syncPrepareResources(long checkpointId) throws IOException {
    return take();
  }

  @Override
  public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
      FasterSnapshotResources<K> resources,
      long checkpointId,
      long timestamp,
      CheckpointStreamFactory streamFactory,
      CheckpointOptions options) {
    if (resources.getMetaInfoSnapshots().isEmpty()) {
      return registry -> SnapshotResult.empty();
    }
    OpenStreams open = new OpenStreams(local.logger());
    FullSnapshotAsyncWriter<K> writer =
        new FullSnapshotAsyncWriter<>(
            options.getCheckpointType(),
            () ->
                new RegisteredStream(
                    open,
                    () ->
                        ExclusiveStream.open(
                            local.recovery(),
                            options.getCheckpointType().isSavepoint(),
                            checkpointId,
                            streamFactory)),
            resources);
    return registry -> {
      // Closed in reverse order: first the streams, then the lease that keeps the store open.
      // Neither
      // waits for a thread that hangs in checkpoint storage.
      registry.registerCloseable(resources::release);
      registry.registerCloseable(open);
      return writer.get(registry);
    };
  }
}
