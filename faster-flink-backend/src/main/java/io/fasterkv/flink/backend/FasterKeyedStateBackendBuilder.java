package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.config.TimerPlace;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.memory.NativeAccess;
import io.fasterkv.flink.metrics.RestoreDurations;
import io.fasterkv.flink.metrics.StoreMetrics;
import io.fasterkv.flink.records.DeadParts;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.map.EntryLife;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.restore.FullRestore;
import io.fasterkv.flink.restore.IncrementalRestore;
import io.fasterkv.flink.restore.RestoreScope;
import io.fasterkv.flink.snapshot.IncrementalStrategy;
import io.fasterkv.flink.snapshot.SharedLog;
import io.fasterkv.flink.state.CompactionRule;
import io.fasterkv.flink.state.ExpiryRules;
import io.fasterkv.flink.state.StateContext;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.HeapTimers;
import io.fasterkv.flink.timers.StoreTimers;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.InternalKeyContextImpl;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.StateBackendBuilder;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.StateMigrationException;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.SystemClock;
import org.jspecify.annotations.Nullable;

/**
 * Opens a store for one subtask and restores its state. For the task thread. Extended only by
 * tests.
 *
 * @param <K> type of the keys
 */
public class FasterKeyedStateBackendBuilder<K>
    implements StateBackendBuilder<FasterKeyedStateBackend<K>, BackendBuildingException> {
  private final KeyedStateBackendParameters<K> parameters;
  private final FasterSettings settings;
  private final Tracking tracking;
  private final StreamCompressionDecorator compression;
  private final StateSerializerProvider<K> keySerializer;
  private final Clock clock;
  private final Logger logger;

  public FasterKeyedStateBackendBuilder(
      KeyedStateBackendParameters<K> parameters,
      FasterSettings settings,
      Tracking tracking,
      StreamCompressionDecorator compression) {
    this(parameters, settings, tracking, compression, SystemClock.getInstance());
  }

  /** With a clock for the progress lines that restores log. */
  FasterKeyedStateBackendBuilder(
      KeyedStateBackendParameters<K> parameters,
      FasterSettings settings,
      Tracking tracking,
      StreamCompressionDecorator compression,
      Clock clock) {
    this.parameters = parameters;
    this.settings = settings;
    this.tracking = tracking;
    this.compression = compression;
    this.keySerializer =
        StateSerializerProvider.fromNewRegisteredSerializer(parameters.getKeySerializer());
    this.clock = clock;
    logger = OperatorLog.of(parameters);
  }

  @Override
  public FasterKeyedStateBackend<K> build() throws BackendBuildingException {
    NativeAccess.request();
    StoreResources resources = null;
    StateRecords records = null;
    try {
      IncrementalRestore incremental = incrementalRestore();
      StateRegistry states = new StateRegistry();
      ValueIncarnations incarnations = new ValueIncarnations(state -> states.get(state).name());
      ExpiryRules expiry = new ExpiryRules(parameters.getTtlTimeProvider(), incarnations);
      RestoreDurations durations =
          new RestoreDurations(parameters.getCustomInitializationMetrics(), clock);
      resources =
          StoreResources.open(
              parameters,
              settings,
              incremental,
              new CompactionRule(expiry, new DeadParts(incarnations)),
              logger);
      durations.downloaded(incremental != null);
      records = openRecords(resources.local().store(), incarnations, expiry::entryLife);
      FasterKeyedStateBackend<K> backend =
          restoreInto(resources, states, records, incremental, expiry);
      durations.restored(!handles().isEmpty());
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

  /** The task thread's session. */
  StateRecords openRecords(
      FasterStore store, ValueIncarnations incarnations, IntFunction<@Nullable EntryLife> lives) {
    return new StateRecords(store, incarnations, lives);
  }

  private @Nullable IncrementalRestore incrementalRestore()
      throws IOException, StateMigrationException {
    return IncrementalRestore.isFor(handles())
        ? IncrementalRestore.plan(
            handles(), parameters.getKeyGroupRange(), userClasses(), keySerializer, scope())
        : null;
  }

  private FasterKeyedStateBackend<K> restoreInto(
      StoreResources resources,
      StateRegistry states,
      StateRecords records,
      @Nullable IncrementalRestore incremental,
      ExpiryRules expiry)
      throws Exception {
    TimerQueues timers = timerQueues(states, records, incremental);
    // Stops the store's wait for a full disk if the task is cancelled while it restores.
    Closeable cancelled = resources.local().store()::stopWaiting;
    CloseableRegistry registry = parameters.getCancelStreamRegistry();
    registry.registerCloseable(cancelled);
    try {
      if (incremental != null) {
        incremental.run(resources.local().store(), states, timers, records);
        resources.local().store().integration().copyOrigin();
      } else {
        new FullRestore<>(this::keySpace, states, timers, records, scope())
            .run(handles(), this::restoreOperation);
      }
    } finally {
      registry.unregisterCloseable(cancelled);
    }
    records.incarnations().complete();
    KeySpace<K> keys = keySpace();
    IncrementalStrategy strategy =
        !settings.incremental()
            ? null
            : new IncrementalStrategy(
                resources.local(),
                keys,
                states,
                records,
                timers,
                incremental == null ? SharedLog.of(keys.range()) : incremental.log());
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
            strategy,
            expiry,
            compression));
  }

  /** Uses the store for timers that an incremental checkpoint has in the store. */
  private TimerQueues timerQueues(
      StateRegistry states, StateRecords records, @Nullable IncrementalRestore incremental) {
    KeyGroupRange range = parameters.getKeyGroupRange();
    int keyGroups = parameters.getNumberOfKeyGroups();
    boolean areInStore = incremental != null && incremental.hasTimersInStore();
    return switch (areInStore ? TimerPlace.STORE : settings.timers()) {
      case STORE -> new StoreTimers(range, keyGroups, states, records.trees());
      case HEAP -> new HeapTimers(range, keyGroups);
    };
  }

  /** The keys with the current serializer: restoring may reconfigure it. */
  private KeySpace<K> keySpace() {
    return new KeySpace<>(
        keySerializer.currentSchemaSerializer(),
        parameters.getKeyGroupRange(),
        parameters.getNumberOfKeyGroups());
  }

  private FullSnapshotRestoreOperation<K> restoreOperation(List<KeyedStateHandle> handles) {
    return new FullSnapshotRestoreOperation<>(
        parameters.getKeyGroupRange(), userClasses(), handles, keySerializer);
  }

  private RestoreScope scope() {
    return new RestoreScope(
        parameters.getCancelStreamRegistry(), clock, settings.restoreStreams(), logger);
  }

  private List<KeyedStateHandle> handles() {
    return FullRestore.clip(parameters.getStateHandles(), parameters.getKeyGroupRange());
  }

  private ClassLoader userClasses() {
    return parameters.getEnv().getUserCodeClassLoader().asClassLoader();
  }
}
