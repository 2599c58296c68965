package io.fasterkv.flink.restore;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.snapshot.Blocks;
import io.fasterkv.flink.snapshot.HeapTimerBlocks;
import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.SharedLog;
import io.fasterkv.flink.snapshot.UploadHistory;
import io.fasterkv.flink.state.Registered;
import io.fasterkv.flink.state.RegisteredQueue;
import io.fasterkv.flink.state.RegisteredState;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.RestoredQueue;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.util.StateMigrationException;
import org.jspecify.annotations.Nullable;

/**
 * Restores state from the handles of an incremental checkpoint. The store opens the log of one
 * handle, or the part that the logs of several have in common ({@link CommonLog}). A sequential
 * read of the other files inserts the remaining records. For the task thread.
 */
public final class IncrementalRestore {
  private final List<IncrementalSource> sources;
  private final KeyGroupRange own;
  private final RestoreScope scope;
  private final RestoreProgress progress;
  private final @Nullable BaseLog base;

  private IncrementalRestore(
      List<IncrementalSource> sources,
      KeyGroupRange own,
      RestoreScope scope,
      RestoreProgress progress) {
    this.sources = sources;
    this.own = own;
    this.scope = scope;
    this.progress = progress;
    CommonLog best = CommonLog.best(sources, own);
    base = best == null ? null : new BaseLog(best, own, scope, progress);
  }

  /** Whether these handles belong to an incremental checkpoint. */
  public static boolean isFor(Collection<KeyedStateHandle> handles) {
    return handles.stream().anyMatch(IncrementalKeyedStateHandle.class::isInstance);
  }

  /**
   * Reads the metadata of the handles.
   *
   * @param keys this call may reconfigure it
   * @throws StateMigrationException if the key serializer has changed incompatibly
   * @throws IOException if a handle cannot be read or is another backend's
   */
  public static <K> IncrementalRestore plan(
      Collection<KeyedStateHandle> handles,
      KeyGroupRange own,
      ClassLoader userClasses,
      StateSerializerProvider<K> keys,
      RestoreScope scope)
      throws IOException, StateMigrationException {
    RestoreProgress progress = new RestoreProgress(scope);
    try (OpenStreams streams = new OpenStreams(scope.logger())) {
      List<IncrementalSource> sources =
          scope.closing(streams, () -> read(handles, userClasses, streams));
      checkKeys(keys, sources.getFirst().meta().keys());
      return new IncrementalRestore(sources, own, scope, progress);
    }
  }

  private static List<IncrementalSource> read(
      Collection<KeyedStateHandle> handles, ClassLoader userClasses, OpenStreams streams)
      throws IOException {
    List<IncrementalSource> sources = new ArrayList<>();
    for (KeyedStateHandle handle : handles) {
      if (!(handle instanceof IncrementalKeyedStateHandle incremental)) {
        throw new IOException(
            "handles of different kinds cannot be restored together: handle="
                + handle
                + ", allowed=those of one incremental checkpoint, or of one full checkpoint or"
                + " canonical savepoint");
      }
      sources.add(IncrementalSource.read(incremental, userClasses, streams));
    }
    return sources;
  }

  @SuppressWarnings("unchecked")
  private static <K> void checkKeys(
      StateSerializerProvider<K> keys, TypeSerializerSnapshot<?> previous)
      throws StateMigrationException {
    TypeSerializer<K> current = keys.currentSchemaSerializer();
    TypeSerializerSchemaCompatibility<K> compatibility =
        keys.setPreviousSerializerSnapshotForRestoredState((TypeSerializerSnapshot<K>) previous);
    if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
      throw new StateMigrationException(
          "the new serializer of the keys must be compatible with the old one: new="
              + current
              + ", old="
              + keys.previousSchemaSerializer());
    }
  }

  /**
   * Refuses logs with another page size, since their records may not fit.
   *
   * @throws IOException if a log has another page size
   */
  public void requirePages(int bytes) throws IOException {
    for (IncrementalSource source : sources) {
      if (source.log().pageBytes() != bytes) {
        throw new IOException(
            "a checkpoint has log pages of another size: pageBytes="
                + source.log().pageBytes()
                + ", allowed="
                + bytes
                + ", handle="
                + source.handle()
                + "; restore from a canonical savepoint");
      }
    }
  }

  /** The log that the store should open, or null. */
  public @Nullable BaseLog base() {
    return base;
  }

  /** Restores everything into a store that has opened the base or is empty. */
  public void run(FasterStore store, StateRegistry states, TimerQueues timers, StateRecords records)
      throws IOException {
    try (OpenStreams streams = new OpenStreams(scope.logger())) {
      scope.closing(
          streams,
          () -> {
            run(store, states, timers, records, streams);
            return streams;
          });
    }
  }

  private void run(
      FasterStore store,
      StateRegistry states,
      TimerQueues timers,
      StateRecords records,
      OpenStreams streams)
      throws IOException {
    for (IncrementalSource source : sources) {
      records.incarnations().continueFrom(source.meta().nextIncarnation());
    }
    CommonLog taken = base != null && base.isTaken() ? base.common() : null;
    if (taken != null) {
      // Registered first, so that states get the numbers that the log uses.
      register(taken.source(), states, records);
    }
    long missingBytes =
        sources.stream()
            .mapToLong(source -> source.log().endAddress() - missingFrom(source, taken))
            .sum();
    InsertProgress inserted =
        new InsertProgress(progress, "inserting the records of a checkpoint", missingBytes);
    try (RecordInsert insert = new RecordInsert(store, own, scope, streams, inserted)) {
      for (IncrementalSource source : sources) {
        int[] numbers = register(source, states, records);
        long from = missingFrom(source, taken);
        if (source.log().endAddress() > from) {
          insert.insert(source, from, numbers);
        }
        restoreTimers(source, timers, streams);
      }
    }
    logEnd(taken, missingBytes, inserted);
  }

  /** Address in a source's log from which records are missing in the store. */
  private static long missingFrom(IncrementalSource source, @Nullable CommonLog taken) {
    return taken == null ? source.log().beginAddress() : taken.missingFrom(source);
  }

  private void logEnd(@Nullable CommonLog taken, long readBytes, InsertProgress inserted) {
    List<KeyGroupRange> reused =
        taken == null ? List.of() : taken.members().stream().map(IncrementalSource::range).toList();
    scope
        .logger()
        .log(
            Level.INFO,
            "restored an incremental checkpoint: keyGroups="
                + own
                + ", handles="
                + sources.size()
                + ", first="
                + sources.getFirst().handle().getMetaDataStateHandle()
                + ", reusedLogBytes="
                + (taken == null ? 0 : taken.bytes())
                + ", reusedKeyGroups="
                + reused
                + ", readLogBytes="
                + readBytes
                + ", insertedEntries="
                + inserted.entries()
                + ", insertedBytes="
                + inserted.bytes()
                + ", millis="
                + progress.millis());
  }

  /** Maps the source's state numbers to the store's. */
  private static int[] register(
      IncrementalSource source, StateRegistry states, StateRecords records) {
    int[] numbers = new int[source.meta().inStore()];
    for (int id = 0; id < numbers.length; id++) {
      Registered state = registered(source.meta().states().get(id), states);
      numbers[id] = state.id();
      if (source.meta().timed().get(id)) {
        records.incarnations().noteTimed(state.id());
      }
      if (state instanceof RegisteredQueue) {
        records.incarnations().noteTrees(state.id());
      }
    }
    return numbers;
  }

  private static Registered registered(StateMetaInfoSnapshot snapshot, StateRegistry states) {
    if (snapshot.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
      RegisteredQueue<?> queue = states.findQueue(snapshot.getName());
      return queue != null
          ? queue
          : states.add(new RegisteredPriorityQueueStateBackendMetaInfo<>(snapshot));
    }
    RegisteredState<?, ?> state = states.find(snapshot.getName());
    return state != null
        ? state
        : states.add(
            (RegisteredKeyValueStateBackendMetaInfo<?, ?>)
                RegisteredKeyValueStateBackendMetaInfo.fromMetaInfoSnapshot(snapshot));
  }

  /** Whether the log of any handle has a timer queue. */
  public boolean hasTimersInStore() {
    return sources.stream()
        .map(IncrementalSource::meta)
        .anyMatch(meta ->
            meta.states().subList(0, meta.inStore()).stream()
                .anyMatch(state -> state.getBackendStateType() == BackendStateType.PRIORITY_QUEUE));
  }

  private void restoreTimers(IncrementalSource source, TimerQueues timers, OpenStreams streams)
      throws IOException {
    List<StateMetaInfoSnapshot> all = source.meta().states();
    List<RestoredQueue> queues =
        all.subList(source.meta().inStore(), all.size()).stream().map(timers::restored).toList();
    if (queues.isEmpty()) {
      return;
    }
    try (Blocks.In in = new Blocks.In(source.handle().getMetaDataStateHandle(), streams)) {
      in.block();
      HeapTimerBlocks.read(
          in,
          source.range(),
          own,
          (queue, keyGroup, bytes, offset) -> queues.get(queue).add(keyGroup, bytes, offset));
    }
  }

  /** The files of the store's log that exist already, for the next checkpoints. */
  public SharedLog log() {
    if (base == null || !base.isTaken()) {
      return SharedLog.of(own);
    }
    IncrementalKeyedStateHandle handle = base.common().source().handle();
    List<LogFile> files =
        base.common().files().stream()
            // Savepoint files are found only relative to the savepoint, so checkpoints cannot refer
            // to them.
            .filter(file -> !(file.handle() instanceof RelativeFileStateHandle))
            .toList();
    UploadHistory history = new UploadHistory();
    history.restored(files);
    return new SharedLog(handle.getBackendIdentifier(), base.stored(), history);
  }
}
