package io.fasterkv.flink.backend;

import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.metrics.StoreMetrics;
import io.fasterkv.flink.records.StateRecords;
import io.fasterkv.flink.restore.FullRestore;
import io.fasterkv.flink.state.StateContext;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.HeapTimers;
import io.fasterkv.flink.timers.StoreTimers;
import io.fasterkv.flink.timers.TimerQueues;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.InternalKeyContextImpl;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.StateBackendBuilder;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.util.IOUtils;

/**
 * Opens a store for one subtask and restores its state. For the task thread.
 *
 * @param <K> type of the keys
 */
public final class FasterKeyedStateBackendBuilder<K>
    implements StateBackendBuilder<FasterKeyedStateBackend<K>, BackendBuildingException> {
  private final KeyedStateBackendParameters<K> parameters;
  private final FasterSettings settings;
  private final Tracking tracking;
  private final StreamCompressionDecorator compression;
  private final StateSerializerProvider<K> keySerializer;

  public FasterKeyedStateBackendBuilder(
      KeyedStateBackendParameters<K> parameters,
      FasterSettings settings,
      Tracking tracking,
      StreamCompressionDecorator compression) {
    this.parameters = parameters;
    this.settings = settings;
    this.tracking = tracking;
    this.compression = compression;
    this.keySerializer =
        StateSerializerProvider.fromNewRegisteredSerializer(parameters.getKeySerializer());
  }

  @Override
  public FasterKeyedStateBackend<K> build() throws BackendBuildingException {
    StoreResources resources = null;
    StateRecords records = null;
    try {
      resources = StoreResources.open(parameters, settings);
      records = new StateRecords(resources.local().store());
      FasterKeyedStateBackend<K> backend = restoreInto(resources, records);
      StoreMetrics.register(
          parameters.getMetricGroup(),
          resources.local().store(),
          resources.local().guard(),
          backend.snapshotTimes());
      return backend;
    } catch (Exception | Error failure) {
      IOUtils.closeAllQuietly(records, resources);
      throw new BackendBuildingException(
          "cannot build the keyed state backend: operator="
              + parameters.getOperatorIdentifier()
              + ", cause="
              + failure.getMessage(),
          failure);
    }
  }

  private FasterKeyedStateBackend<K> restoreInto(StoreResources resources, StateRecords records)
      throws Exception {
    StateRegistry states = new StateRegistry();
    TimerQueues timers = timerQueues(states, records);
    new FullRestore<>(this::keySpace, states, timers, records, parameters.getCancelStreamRegistry())
        .run(restoreOperation());
    KeySpace<K> keys = keySpace();
    return new FasterKeyedStateBackend<>(
        parameters,
        tracking,
        new InternalKeyContextImpl<>(keys.range(), keys.keyGroups()),
        new BackendParts<>(
            resources,
            keys,
            states,
            timers,
            new StateContext<>(resources.local().store(), records, keys),
            compression));
  }

  private TimerQueues timerQueues(StateRegistry states, StateRecords records) {
    KeyGroupRange range = parameters.getKeyGroupRange();
    int keyGroups = parameters.getNumberOfKeyGroups();
    return switch (settings.timers()) {
      case STORE -> new StoreTimers(range, keyGroups, states, records.trees());
      case HEAP -> new HeapTimers(range, keyGroups);
    };
  }

  /** The keys with the serializer as it is now: restoring may reconfigure it. */
  private KeySpace<K> keySpace() {
    return new KeySpace<>(
        keySerializer.currentSchemaSerializer(),
        parameters.getKeyGroupRange(),
        parameters.getNumberOfKeyGroups());
  }

  private FullSnapshotRestoreOperation<K> restoreOperation() {
    return new FullSnapshotRestoreOperation<>(
        parameters.getKeyGroupRange(),
        parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
        FullRestore.clip(parameters.getStateHandles(), parameters.getKeyGroupRange()),
        keySerializer);
  }
}
