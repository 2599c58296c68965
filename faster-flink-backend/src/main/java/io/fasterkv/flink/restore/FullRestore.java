package io.fasterkv.flink.restore;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.state.RegisteredState;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.RestoredQueue;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.runtime.state.restore.KeyGroup;
import org.apache.flink.runtime.state.restore.KeyGroupEntry;
import org.apache.flink.runtime.state.restore.SavepointRestoreResult;
import org.apache.flink.runtime.state.restore.ThrowingIterator;
import org.apache.flink.util.StateMigrationException;

/**
 * Restores full checkpoints and canonical savepoints from one or more handles, for the key groups
 * of this subtask. For the task thread.
 *
 * @param <K> type of the keys
 */
public final class FullRestore<K> {
  private final Supplier<KeySpace<K>> keySpace;
  private final StateRegistry states;
  private final TimerQueues timers;
  private final StateWriter writer;
  private final RestoreScope scope;
  private final RestoreProgress progress;

  /**
   * @param keySpace called after a snapshot's head was read, which may have reconfigured the key
   *     serializer
   */
  public FullRestore(
      Supplier<KeySpace<K>> keySpace,
      StateRegistry states,
      TimerQueues timers,
      StateRecords records,
      RestoreScope scope) {
    this.keySpace = keySpace;
    this.states = states;
    this.timers = timers;
    this.writer = new StateWriter(records);
    this.scope = scope;
    this.progress = new RestoreProgress(scope);
  }

  /** A state of a snapshot and where to write it: a state of the backend or a timer queue. */
  private sealed interface Target {}

  private record StateTarget(RegisteredState<?, ?> state, SavepointKeyReader keyReader)
      implements Target {}

  private record TimerTarget(RestoredQueue queue, int keyPrefixBytes) implements Target {}

  /** The parts of the handles that belong to these key groups. */
  public static List<KeyedStateHandle> clip(
      Collection<KeyedStateHandle> handles, KeyGroupRange range) {
    List<KeyedStateHandle> clipped = new ArrayList<>();
    for (KeyedStateHandle handle : handles) {
      KeyedStateHandle part = handle == null ? null : handle.getIntersection(range);
      if (part != null) {
        clipped.add(part);
      }
    }
    return clipped;
  }

  /**
   * Restores everything.
   *
   * @param handles the handles to read
   * @param operation reads handles
   * @throws StateMigrationException if the key serializer has changed incompatibly
   */
  public void run(
      List<KeyedStateHandle> handles,
      Function<List<KeyedStateHandle>, FullSnapshotRestoreOperation<K>> operation)
      throws IOException, StateMigrationException {
    if (handles.isEmpty()) {
      return;
    }
    try (OpenStreams streams = new OpenStreams(scope.logger())) {
      scope.cancelled().registerCloseable(streams);
      try {
        List<KeyedStateHandle> registered =
            handles.stream().map(handle -> RegisteredHandle.of(handle, streams)).toList();
        run(operation.apply(registered), handles);
      } finally {
        scope.cancelled().unregisterCloseable(streams);
      }
    }
  }

  private void run(FullSnapshotRestoreOperation<K> operation, List<KeyedStateHandle> handles)
      throws IOException, StateMigrationException {
    InsertProgress inserted =
        new InsertProgress(
            progress, "inserting the entries of a full snapshot", keyGroups(handles));
    try (ThrowingIterator<SavepointRestoreResult> results = operation.restore()) {
      while (results.hasNext()) {
        restore(results.next(), inserted);
      }
    }
    scope
        .logger()
        .log(
            Level.INFO,
            "restored a full snapshot: keyGroups="
                + keySpace.get().range()
                + ", handles="
                + handles.size()
                + ", first="
                + file(handles.getFirst())
                + ", insertedEntries="
                + inserted.entries()
                + ", insertedBytes="
                + inserted.bytes()
                + ", millis="
                + progress.millis());
  }

  private static long keyGroups(List<KeyedStateHandle> handles) {
    return handles.stream()
        .mapToLong(handle -> handle.getKeyGroupRange().getNumberOfKeyGroups())
        .sum();
  }

  private static StateObject file(KeyedStateHandle handle) {
    return handle instanceof KeyGroupsStateHandle groups ? groups.getDelegateStateHandle() : handle;
  }

  private void restore(SavepointRestoreResult result, InsertProgress inserted)
      throws IOException, StateMigrationException {
    try (ThrowingIterator<KeyGroup> groups = result.getRestoredKeyGroups()) {
      KeySpace<K> keys = keySpace.get();
      List<Target> targets = new ArrayList<>();
      for (StateMetaInfoSnapshot snapshot : result.getStateMetaInfoSnapshots()) {
        targets.add(target(snapshot, keys));
      }
      while (groups.hasNext()) {
        restore(groups.next(), targets, inserted);
        inserted.passed(1);
      }
    }
  }

  private Target target(StateMetaInfoSnapshot snapshot, KeySpace<K> keys) {
    if (snapshot.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
      return new TimerTarget(timers.restored(snapshot), keys.savepointPrefixBytes());
    }
    RegisteredState<?, ?> state = states.find(snapshot.getName());
    if (state == null) {
      state =
          states.add(
              (RegisteredKeyValueStateBackendMetaInfo<?, ?>)
                  RegisteredKeyValueStateBackendMetaInfo.fromMetaInfoSnapshot(snapshot));
    }
    return new StateTarget(state, new SavepointKeyReader(state, keys));
  }

  private void restore(KeyGroup group, List<Target> targets, InsertProgress inserted)
      throws IOException, StateMigrationException {
    try (ThrowingIterator<KeyGroupEntry> entries = group.getKeyGroupEntries()) {
      while (entries.hasNext()) {
        scope.check();
        KeyGroupEntry entry = entries.next();
        switch (targets.get(entry.getKvStateId())) {
          case TimerTarget timer ->
              timer.queue().add(group.getKeyGroupId(), entry.getKey(), timer.keyPrefixBytes());
          case StateTarget state -> restoreEntry(state, group.getKeyGroupId(), entry);
        }
        inserted.add(entry.getKey().length + entry.getValue().length);
      }
    }
  }

  private void restoreEntry(StateTarget target, int keyGroup, KeyGroupEntry entry)
      throws IOException {
    byte[] value = entry.getValue();
    CompositeKey key = target.keyReader().read(entry.getKey(), keyGroup);
    switch (target.state().type()) {
      case MAP ->
          writer.putMapEntry(
              key, entry.getKey(), target.keyReader().userKeyAt(), value, value.length);
      case LIST ->
          writer.putList(
              key,
              value,
              value.length,
              ((ListSerializer<?>) target.state().valueSerializer()).getElementSerializer());
      default -> writer.putValue(key, value, value.length);
    }
  }
}
