package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.metrics.SnapshotTimes;
import io.fasterkv.flink.restore.StateMigration;
import io.fasterkv.flink.snapshot.FasterSnapshotStrategy;
import io.fasterkv.flink.snapshot.KeyListing;
import io.fasterkv.flink.state.RegisteredState;
import io.fasterkv.flink.state.StateFactory;
import io.fasterkv.flink.timers.StoreTimers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.InternalKeyContext;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the keyed state of one operator's subtask in one store. For the task thread; other threads
 * write snapshots.
 *
 * @param <K> type of the keys
 */
public final class FasterKeyedStateBackend<K> extends AbstractKeyedStateBackend<K> {

  /** The name under which Flink reports this type of backend. */
  public static final String TYPE = "faster";

  private final BackendParts<K> parts;
  private final StateFactory<K> factory;
  private final StateRegistration registration;
  private final FasterSnapshotStrategy<K> snapshots;
  private final SnapshotTimes times = new SnapshotTimes();
  private final KeyListing<K> listing;
  private boolean disposed;

  FasterKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters,
      Tracking tracking,
      InternalKeyContext<K> keyContext,
      BackendParts<K> parts) {
    super(
        parameters.getKvStateRegistry(),
        parts.keys().serializer(),
        parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
        parameters.getEnv().getExecutionConfig(),
        parameters.getTtlTimeProvider(),
        tracking.latency(),
        tracking.size(),
        // Not the parameters' registry, which is closed as soon as the operator has its state.
        new CloseableRegistry(),
        parts.compression(),
        keyContext);
    this.parts = parts;
    this.factory = new StateFactory<>(parts.context());
    this.registration =
        new StateRegistration(
            parts.states(),
            parts.expiry(),
            new StateMigration(
                parts.resources().local(),
                parts.keys(),
                parts.context().records(),
                ttlTimeProvider));
    this.snapshots =
        new FasterSnapshotStrategy<>(
            parts.resources().local(),
            parts.keys(),
            parts.states(),
            parts.context().records().incarnations(),
            parts.timers(),
            parts.compression());
    this.listing = new KeyListing<>(parts.resources().local(), parts.keys());
  }

  @Override
  public void setCurrentKey(K newKey) {
    super.setCurrentKey(newKey);
    parts.context().currentKey().set(newKey, getCurrentKeyGroupIndex());
  }

  @Override
  public void setCurrentKeyAndKeyGroup(K newKey, int newKeyGroupIndex) {
    super.setCurrentKeyAndKeyGroup(newKey, newKeyGroupIndex);
    parts.context().currentKey().set(newKey, newKeyGroupIndex);
  }

  @Override
  public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
      TypeSerializer<N> namespaceSerializer,
      StateDescriptor<S, SV> descriptor,
      StateSnapshotTransformFactory<SEV> snapshotTransformFactory)
      throws Exception {
    return createOrUpdateInternalState(
        namespaceSerializer, descriptor, snapshotTransformFactory, false);
  }

  @Override
  public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
      TypeSerializer<N> namespaceSerializer,
      StateDescriptor<S, SV> descriptor,
      StateSnapshotTransformFactory<SEV> snapshotTransformFactory,
      boolean allowFutureMetadataUpdates)
      throws Exception {
    parts.context().settle();
    RegisteredState<N, SV> state =
        registration.register(namespaceSerializer, descriptor, allowFutureMetadataUpdates);
    parts.expiry().register(state, descriptor.getTtlConfig());
    state.setFilter(snapshotTransformFactory);
    return factory.get(state, descriptor);
  }

  @Override
  public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> create(String name, TypeSerializer<T> serializer) {
    return create(name, serializer, false);
  }

  @Override
  public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> create(
          String name, TypeSerializer<T> serializer, boolean allowFutureMetadataUpdates) {
    return parts.timers().queue(name, serializer, allowFutureMetadataUpdates);
  }

  @Override
  public <N> Stream<K> getKeys(String state, N namespace) {
    return getKeys(List.of(state), namespace);
  }

  /** Returns each key once, even if several of the states have a value for it. */
  @Override
  public <N> Stream<K> getKeys(List<String> states, N namespace) {
    List<RegisteredState<N, ?>> known = new ArrayList<>();
    for (String name : states) {
      RegisteredState<N, ?> state = find(name);
      if (state != null) {
        known.add(state);
      }
    }
    parts.context().settle();
    return known.isEmpty() ? Stream.empty() : listing.keys(known, namespace);
  }

  @Override
  public <N> Stream<Tuple2<K, N>> getKeysAndNamespaces(String name) {
    RegisteredState<N, ?> state = find(name);
    parts.context().settle();
    return state == null ? Stream.empty() : listing.keysAndNamespaces(state);
  }

  @SuppressWarnings("unchecked")
  private <N> @Nullable RegisteredState<N, ?> find(String name) {
    return (RegisteredState<N, ?>) parts.states().find(name);
  }

  /**
   * Number of pairs of key and namespace that have a value, over all states; reads the whole log.
   */
  @Override
  public int numKeyValueStateEntries() {
    parts.context().settle();
    return listing.count(parts.states());
  }

  @Override
  public RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
      long checkpointId,
      long timestamp,
      CheckpointStreamFactory streamFactory,
      CheckpointOptions checkpointOptions)
      throws Exception {
    return times.time(() -> {
      parts.context().settle();
      return parts.incremental() != null
          ? runner("incremental", parts.incremental())
              .snapshot(checkpointId, timestamp, streamFactory, checkpointOptions)
          : runner("full", snapshots)
              .snapshot(checkpointId, timestamp, streamFactory, checkpointOptions);
    });
  }

  private <R extends SnapshotResources> SnapshotStrategyRunner<KeyedStateHandle, R> runner(
      String kind, SnapshotStrategy<KeyedStateHandle, R> strategy) {
    return new SnapshotStrategyRunner<>(
        kind + " snapshot of a FASTER store",
        strategy,
        cancelStreamRegistry,
        SnapshotExecutionType.ASYNCHRONOUS);
  }

  @Override
  public SavepointResources<K> savepoint() throws IOException {
    parts.context().settle();
    return new SavepointResources<>(snapshots.take(), SnapshotExecutionType.ASYNCHRONOUS);
  }

  /** Durations of the snapshots. */
  SnapshotTimes snapshotTimes() {
    return times;
  }

  /** The store, for callers that need more than the states. */
  FasterStore store() {
    return parts.resources().local().store();
  }

  /** Allows later incremental checkpoints to build on this one. */
  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    if (parts.incremental() != null) {
      parts.incremental().notifyComplete(checkpointId);
    }
  }

  /**
   * Keeps later checkpoints from building on this one; if it is being written, its future is
   * cancelled.
   */
  @Override
  public void notifyCheckpointAborted(long checkpointId) {
    if (parts.incremental() != null) {
      parts.incremental().notifyAborted(checkpointId);
    }
  }

  /** False: every snapshot contains the timers, whether they are in the store or on the heap. */
  @Override
  public boolean requiresLegacySynchronousTimerSnapshots(SnapshotType checkpointType) {
    return false;
  }

  /**
   * State is serialized at each access, but timers on the heap keep the key objects they receive.
   */
  @Override
  public boolean isSafeToReuseKVState() {
    return parts.timers() instanceof StoreTimers;
  }

  @Override
  public String getBackendTypeIdentifier() {
    return TYPE;
  }

  /**
   * Cancels snapshots that are being written. The task ends or is being cancelled, so it stops
   * waiting for a full disk.
   */
  @Override
  public void close() throws IOException {
    store().stopWaiting();
    super.close();
  }

  /**
   * Cancels running snapshots, waits until none uses the store, and closes everything. It first
   * stops the store's own waits, since a snapshot may be blocked in one.
   */
  @Override
  public void dispose() {
    if (disposed) {
      return;
    }
    disposed = true;
    IOUtils.closeQuietly(this);
    super.dispose();
    parts.resources().local().guard().close();
    parts.context().close();
    parts.resources().close();
  }
}
