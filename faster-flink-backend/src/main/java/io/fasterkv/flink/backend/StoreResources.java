package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.memory.MemoryLease;
import io.fasterkv.flink.restore.BaseLog;
import io.fasterkv.flink.snapshot.LocalStore;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store with the memory and the directory that it lives in. They are opened together and closed
 * together, when the last snapshot has let go of the store.
 */
final class StoreResources implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreResources.class);
  private static final AtomicInteger TURN = new AtomicInteger();

  /** The task's session, one for reads of published state, and one to spare. */
  private static final int SESSIONS = 3;

  private final MemoryLease lease;
  private final LocalStore local;

  private StoreResources(MemoryLease lease, LocalStore local) {
    this.lease = lease;
    this.local = local;
  }

  /**
   * @param base what the store begins with if it fits
   */
  static StoreResources open(
      KeyedStateBackendParameters<?> parameters, FasterSettings settings, @Nullable BaseLog base)
      throws IOException {
    Environment env = parameters.getEnv();
    MemoryLease lease =
        MemoryLease.acquire(
            env.getMemoryManager(), parameters.getManagedMemoryFraction(), settings);
    Path directory = null;
    try {
      directory = createDirectory(env, settings, parameters.getOperatorIdentifier());
      FasterStore store = openStore(directory.resolve("log"), lease, settings, base);
      LOG.info("opened a state store: memoryBytes={}, directory={}", lease.bytes(), directory);
      return new StoreResources(
          lease,
          new LocalStore(
              store,
              directory,
              settings.sortBufferBytes(),
              env.getTaskStateManager().createLocalRecoveryConfig()));
    } catch (IOException | RuntimeException failure) {
      lease.close();
      delete(directory);
      throw failure;
    }
  }

  private static Path createDirectory(
      Environment env, FasterSettings settings, String operatorIdentifier) throws IOException {
    List<String> configured = settings.localDirectories();
    File[] temporary = env.getIOManager().getSpillingDirectories();
    int turn = TURN.getAndIncrement() & Integer.MAX_VALUE;
    Path parent =
        configured.isEmpty()
            ? temporary[turn % temporary.length].toPath()
            : Path.of(configured.get(turn % configured.size()));
    String operator = operatorIdentifier.replaceAll("[^a-zA-Z0-9-]", "_");
    return Files.createDirectories(parent.resolve("faster-" + operator + "-" + UUID.randomUUID()));
  }

  private static FasterStore openStore(
      Path directory, MemoryLease lease, FasterSettings settings, @Nullable BaseLog base)
      throws IOException {
    FasterStore store =
        base == null
            ? null
            : base.tryOpen(builder(directory, lease, settings), directory, settings.pageBytes());
    return store != null ? store : FasterStore.open(storeConfig(directory, lease, settings));
  }

  private static StoreConfig.Builder builder(
      Path directory, MemoryLease lease, FasterSettings settings) {
    return StoreConfig.builder(directory)
        .memoryBytes(lease.bytes())
        .mutableFraction(settings.mutableFraction())
        .maxSessions(SESSIONS)
        .deleteOnClose(true)
        .backgroundCompaction(true);
  }

  private static StoreConfig storeConfig(Path directory, MemoryLease lease, FasterSettings settings)
      throws IOException {
    StoreConfig.Builder builder = builder(directory, lease, settings);
    if (settings.pageBytes() > 0) {
      builder.pageBytes(settings.pageBytes());
    }
    try {
      return builder.build();
    } catch (BadConfig doesNotFit) {
      throw new IOException(
          "the settings do not fit the store's memory: memoryBytes="
              + lease.bytes()
              + ", "
              + FasterOptions.PAGE_SIZE.key()
              + "="
              + (settings.pageBytes() > 0 ? settings.pageBytes() : "derived")
              + "; give the store more memory ("
              + TaskManagerOptions.MANAGED_MEMORY_SIZE.key()
              + " or "
              + FasterOptions.FIXED_MEMORY.key()
              + ") or lower the page size; "
              + doesNotFit.getMessage(),
          doesNotFit);
    }
  }

  LocalStore local() {
    return local;
  }

  @Override
  public void close() {
    local.guard().close();
    IOUtils.closeQuietly(local.store());
    lease.close();
    delete(local.directory());
  }

  private static void delete(@Nullable Path directory) {
    if (directory != null) {
      try {
        FileUtils.deleteDirectory(directory.toFile());
      } catch (IOException cause) {
        LOG.warn("cannot delete a local directory: directory={}", directory, cause);
      }
    }
  }
}
