package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.memory.MappedReads;
import io.fasterkv.flink.memory.MemoryLease;
import io.fasterkv.flink.restore.BaseLog;
import io.fasterkv.flink.restore.IncrementalRestore;
import io.fasterkv.flink.snapshot.LocalStore;
import java.io.File;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Owns a store, its memory and its directory. They are opened together and closed together, after
 * the last snapshot has released the store.
 */
final class StoreResources implements AutoCloseable {
  private static final AtomicInteger TURN = new AtomicInteger();

  /** The task's session, one for reads of published state, and one in reserve. */
  private static final int SESSIONS = 3;

  /** How often the log's memory may be halved, at a restore or later, when the index is full. */
  private static final int LOG_HALVINGS = 2;

  /**
   * Scratch memory in pages: scans, compaction, snapshots and sessions with long keys take one
   * each.
   */
  private static final long SCRATCH_PAGES = 8;

  /** Prefix of the directory that Flink creates for each process in its temporary directories. */
  private static final String OF_A_PROCESS = "flink-io-";

  private final MemoryLease lease;
  private final LocalDirectory directory;
  private final LocalStore local;

  private StoreResources(MemoryLease lease, LocalDirectory directory, LocalStore local) {
    this.lease = lease;
    this.directory = directory;
    this.local = local;
  }

  /**
   * @param restore the restore that the store is opened for, whose log it opens if that fits; null
   *     for an empty store
   * @param rule tells compaction what to keep
   * @param logger receives the store's log lines
   */
  static StoreResources open(
      KeyedStateBackendParameters<?> parameters,
      FasterSettings settings,
      @Nullable IncrementalRestore restore,
      KeepRule rule,
      Logger logger)
      throws IOException {
    Environment env = parameters.getEnv();
    MemoryLease lease =
        MemoryLease.acquire(
            env,
            parameters.getOperatorIdentifier(),
            parameters.getManagedMemoryFraction(),
            settings);
    LocalDirectory directory = null;
    FasterStore store = null;
    try {
      Path parent = nextParent(env, settings, logger);
      directory = LocalDirectory.create(parent, parameters.getOperatorIdentifier(), logger);
      store = openStore(directory.path().resolve("log"), lease, settings, restore, rule, logger);
      logger.log(
          Level.INFO,
          "opened a state store: memoryBytes=" + lease.bytes() + ", directory=" + directory.path());
      LocalStore local =
          new LocalStore(
              store,
              directory.path(),
              settings.sortBufferBytes(),
              settings.uploadStreams(),
              areFilesCompressed(env.getExecutionConfig()),
              env.getTaskStateManager().createLocalRecoveryConfig());
      lease.heldBy(store.integration(), logger);
      return new StoreResources(lease, directory, local);
    } catch (Throwable failure) {
      IOUtils.closeAllQuietly(store, lease, directory);
      throw failure;
    }
  }

  /**
   * Flink's option decides if it is set. Its default, for canonical savepoints, is no compression;
   * log files are compressed by default, as RocksDB's files are.
   */
  static boolean areFilesCompressed(ExecutionConfig config) {
    return config.toConfiguration().getOptional(ExecutionOptions.SNAPSHOT_COMPRESSION).orElse(true);
  }

  /** Takes the directories in turn, after deleting those of ended processes from all of them. */
  private static Path nextParent(Environment env, FasterSettings settings, Logger logger)
      throws IOException {
    int turn = TURN.getAndIncrement() & Integer.MAX_VALUE;
    List<Path> configured = settings.localDirectories().stream().map(Path::of).toList();
    if (!configured.isEmpty()) {
      configured.forEach(parent -> LocalDirectory.removeDead(parent, logger));
      return configured.get(turn % configured.size());
    }
    File[] temporary = env.getIOManager().getSpillingDirectories();
    for (File own : temporary) {
      // Flink gives each process a directory of its own; look into those of other processes too.
      for (Path parent : LocalDirectory.children(own.toPath().resolveSibling(""), OF_A_PROCESS)) {
        LocalDirectory.removeDead(parent, logger);
      }
    }
    return temporary[turn % temporary.length].toPath();
  }

  private static FasterStore openStore(
      Path directory,
      MemoryLease lease,
      FasterSettings settings,
      @Nullable IncrementalRestore restore,
      KeepRule rule,
      Logger logger)
      throws IOException {
    if (restore != null) {
      restore.requirePages(settings.pageBytes());
    }
    BaseLog base = restore == null ? null : restore.base();
    if (base == null) {
      return FasterStore.open(builder(directory, lease, settings, rule, logger).build());
    }
    FasterStore store = base.tryOpen(builder(directory, lease, settings, rule, logger), directory);
    return store != null
        ? store
        : FasterStore.open(base.split(builder(directory, lease, settings, rule, logger)));
  }

  private static StoreConfigBuilder builder(
      Path directory, MemoryLease lease, FasterSettings settings, KeepRule rule, Logger logger) {
    return StoreConfig.builder(directory)
        .memoryBytes(lease.bytes())
        .maxMemoryBytes(lease.mostBytes())
        .pageBytes(settings.pageBytes())
        .scratchBytes(scratchBytes(lease.bytes(), settings.pageBytes()))
        .mutableFraction(settings.mutableFraction())
        .mappedReads(MappedReads.areWanted(settings.mappedReads()))
        // Sessions block on disk reads, so asynchronous I/O would gain nothing.
        .ioKind(IoKind.FILE)
        .maxSessions(SESSIONS)
        .deleteOnClose(true)
        .backgroundCompaction(true)
        .growingIndex(true)
        .logHalvings(LOG_HALVINGS)
        .keepRule(rule)
        .logger(logger);
  }

  /** Eight pages or 1/32 of the memory; six pages in the smallest stores. */
  private static long scratchBytes(long memoryBytes, int pageBytes) {
    long few = Math.min(SCRATCH_PAGES * pageBytes, memoryBytes / 8 * 3 & -pageBytes);
    return Math.max(few, memoryBytes / 32);
  }

  LocalStore local() {
    return local;
  }

  @Override
  public void close() {
    local.guard().close();
    IOUtils.closeAllQuietly(local.store(), lease, directory);
  }
}
