package io.fasterkv.flink.backend;

import io.fasterkv.flink.FasterStateBackend;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** All subtasks of an operator with string keys, each with its own store. */
final class LongKeyBackends implements AutoCloseable {
  private static final int KEY_GROUPS = 32;

  private final MockEnvironment env = MockEnvironment.builder().build();
  private final List<FasterKeyedStateBackend<String>> subtasks = new ArrayList<>();
  private final Map<
          FasterKeyedStateBackend<String>,
          KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, String>>>
      timers = new HashMap<>();
  private final SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
  private final TtlTimeProvider time;
  private long checkpoint;

  private LongKeyBackends(TtlTimeProvider time) {
    this.time = time;
  }

  /** Opens subtasks and restores them from a snapshot taken at any parallelism. */
  static LongKeyBackends open(Configuration config, int parallelism, List<KeyedStateHandle> handles)
      throws Exception {
    return open(config, parallelism, handles, TtlTimeProvider.DEFAULT);
  }

  /** Opens subtasks that use a given clock. */
  static LongKeyBackends open(
      Configuration config, int parallelism, List<KeyedStateHandle> handles, TtlTimeProvider time)
      throws Exception {
    LongKeyBackends opened = new LongKeyBackends(time);
    try {
      opened.register(handles);
      FasterStateBackend kind =
          new FasterStateBackend().configure(config, LongKeyBackends.class.getClassLoader());
      for (int subtask = 0; subtask < parallelism; subtask++) {
        KeyGroupRange range =
            KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                KEY_GROUPS, parallelism, subtask);
        opened.subtasks.add(opened.subtask(kind, range, handles));
      }
      return opened;
    } catch (Exception | Error e) {
      opened.close();
      throw e;
    }
  }

  private FasterKeyedStateBackend<String> subtask(
      FasterStateBackend kind, KeyGroupRange range, List<KeyedStateHandle> handles)
      throws Exception {
    List<KeyedStateHandle> own = new ArrayList<>();
    for (KeyedStateHandle handle : handles) {
      KeyedStateHandle part = handle.getIntersection(range);
      if (part != null) {
        own.add(part);
      }
    }
    JobID job = env.getJobID();
    try (CloseableRegistry whileOpening = new CloseableRegistry()) {
      return (FasterKeyedStateBackend<String>)
          kind.createKeyedStateBackend(
              new KeyedStateBackendParametersImpl<>(
                  env,
                  job,
                  "subtask",
                  StringSerializer.INSTANCE,
                  KEY_GROUPS,
                  range,
                  new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
                  time,
                  new UnregisteredMetricsGroup(),
                  own,
                  whileOpening));
    }
  }

  List<FasterKeyedStateBackend<String>> subtasks() {
    return subtasks;
  }

  /** A subtask's timers, whose queue is created once. */
  KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, String>> timers(
      FasterKeyedStateBackend<String> subtask) {
    return timers.computeIfAbsent(
        subtask,
        absent ->
            absent.create(
                "timers",
                new TimerSerializer<>(StringSerializer.INSTANCE, StringSerializer.INSTANCE)));
  }

  /** The subtask that a key belongs to. */
  FasterKeyedStateBackend<String> of(String key) {
    int group = KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
    return subtasks.get(
        KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
            KEY_GROUPS, subtasks.size(), group));
  }

  private void register(List<KeyedStateHandle> handles) {
    handles.forEach(handle -> handle.registerSharedStates(registry, checkpoint));
  }

  /** Takes a snapshot that completes. */
  List<KeyedStateHandle> snapshot(SnapshotType type) throws Exception {
    checkpoint++;
    List<KeyedStateHandle> handles = new ArrayList<>();
    for (FasterKeyedStateBackend<String> subtask : subtasks) {
      var future =
          subtask.snapshot(
              checkpoint,
              checkpoint,
              TestBackends.inMemory(),
              new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()));
      KeyedStateHandle handle = TestBackends.finish(future);
      if (handle != null) {
        handles.add(handle);
      }
    }
    register(handles);
    for (FasterKeyedStateBackend<String> subtask : subtasks) {
      subtask.notifyCheckpointComplete(checkpoint);
    }
    return handles;
  }

  @Override
  public void close() throws Exception {
    subtasks.forEach(FasterKeyedStateBackend::dispose);
    env.close();
  }
}
