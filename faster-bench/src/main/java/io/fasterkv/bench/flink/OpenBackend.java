package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.flink.config.FasterOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.jspecify.annotations.Nullable;

/**
 * A keyed backend as a task has it, without a job: the backend is loaded by its name, and has the
 * slot's managed memory, alone or with others. For one thread.
 *
 * @param <K> type of the keys
 */
public final class OpenBackend<K> implements AutoCloseable {
  /** Key groups of all subtasks together. */
  static final int KEY_GROUPS = 128;

  private static final int PAGE_BYTES = 32 << 10;

  private final MockEnvironment env;
  private final AbstractKeyedStateBackend<K> backend;
  private final Gauges gauges;

  /**
   * What a backend has of a TaskManager and of the job's options.
   *
   * @param memoryBytes managed memory, for backends that use it
   * @param directory for the backend's files
   * @param compression Flink's option for files of snapshots; null if it is not set
   * @param shared the memory that several backends share; null if this one has all of it
   */
  public record Slot(
      long memoryBytes,
      Path directory,
      @Nullable Boolean compression,
      @Nullable MemoryManager shared) {
    /** A slot of a job that sets no option. */
    public static Slot of(long memoryBytes, Path directory) {
      return new Slot(memoryBytes, directory, null, null);
    }

    /** A slot with more than one backend, whose memory outlives them. */
    static Slot shared(MemoryManager memory, Path directory) {
      return new Slot(memory.getMemorySize(), directory, null, memory);
    }
  }

  private OpenBackend(MockEnvironment env, AbstractKeyedStateBackend<K> backend, Gauges gauges) {
    this.env = env;
    this.backend = backend;
    this.gauges = gauges;
  }

  /**
   * Opens a backend.
   *
   * @param time the clock for state with a time to live
   * @param handles the state to restore
   */
  public static <K> OpenBackend<K> open(
      Backend kind,
      TypeSerializer<K> keys,
      Slot slot,
      TtlTimeProvider time,
      KeyGroupRange range,
      Collection<KeyedStateHandle> handles)
      throws Exception {
    Path local = Files.createDirectories(slot.directory);
    Configuration config = config(kind, local);
    if (slot.compression != null) {
      config.set(ExecutionOptions.SNAPSHOT_COMPRESSION, slot.compression);
    }
    if (slot.shared == null) {
      config.set(FasterOptions.OPERATORS, 1);
    }
    MockEnvironmentBuilder environment =
        new MockEnvironmentBuilder()
            .setManagedMemorySize(Math.ceilDiv(slot.memoryBytes, PAGE_BYTES) * PAGE_BYTES)
            .setExecutionConfig(new ExecutionConfig(config))
            .setIOManager(new IOManagerAsync(local.toString()))
            .setTaskManagerRuntimeInfo(new TestingTaskManagerRuntimeInfo(config, local.toFile()))
            .setMaxParallelism(KEY_GROUPS);
    if (slot.shared != null) {
      environment.setMemoryManager(slot.shared);
    }
    MockEnvironment env = environment.build();
    ClassLoader loader = OpenBackend.class.getClassLoader();
    StateBackend loaded = StateBackendLoader.loadStateBackendFromConfig(config, loader, null);
    JobID job = env.getJobID();
    Gauges gauges = new Gauges();
    try (CloseableRegistry whileOpening = new CloseableRegistry()) {
      return new OpenBackend<>(
          env,
          (AbstractKeyedStateBackend<K>)
              loaded.createKeyedStateBackend(
                  new KeyedStateBackendParametersImpl<>(
                      env,
                      job,
                      "bench-" + kind,
                      keys,
                      KEY_GROUPS,
                      range,
                      new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
                      time,
                      gauges,
                      (name, value) -> {},
                      handles,
                      whileOpening,
                      1.0)),
          gauges);
    } catch (Exception | Error e) {
      try {
        env.close();
      } catch (Exception later) {
        // Others may still have some of the memory.
        e.addSuppressed(later);
      }
      throw e;
    }
  }

  private static Configuration config(Backend kind, Path local) {
    Configuration config = new Configuration();
    config.set(StateBackendOptions.STATE_BACKEND, kind.type());
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    config.set(CoreOptions.TMP_DIRS, local.toString());
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(local.toString()));
    return config;
  }

  /** All key groups. */
  public static KeyGroupRange wholeRange() {
    return KeyGroupRange.of(0, KEY_GROUPS - 1);
  }

  public AbstractKeyedStateBackend<K> backend() {
    return backend;
  }

  /** The backend's metrics. */
  Gauges gauges() {
    return gauges;
  }

  /** A state without namespaces. */
  public <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }

  /** Checkpoint storage that writes every byte to files of this directory. */
  static FsCheckpointStreamFactory checkpointsIn(Path directory) throws IOException {
    Files.createDirectories(directory);
    return checkpointsIn(new org.apache.flink.core.fs.Path(directory.toUri()));
  }

  /** Checkpoint storage that writes every byte to files in this directory, which exists. */
  static FsCheckpointStreamFactory checkpointsIn(org.apache.flink.core.fs.Path path)
      throws IOException {
    return new FsCheckpointStreamFactory(path.getFileSystem(), path, path, 0, PAGE_BYTES);
  }

  @Override
  public void close() throws Exception {
    backend.dispose();
    env.close();
  }
}
