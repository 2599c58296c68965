package io.fasterkv.flink.backend;

import io.fasterkv.FasterStore;
import io.fasterkv.api.KeepRule;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.IoKind;
import io.fasterkv.flink.config.FasterSettings;
import io.fasterkv.flink.memory.MappedReads;
import io.fasterkv.flink.memory.MemoryLease;
import io.fasterkv.flink.restore.BaseLog;
import io.fasterkv.flink.restore.IncrementalRestore;
import io.fasterkv.flink.snapshot.LocalStore;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
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

  /** How often the log's memory is halved for an index that is full, at a restore or before. */
  private static final int LOG_HALVINGS = 2;

  /** Scans, compaction, snapshots and sessions with long keys take a page each. */
  private static final long SCRATCH_PAGES = 8;

  /** How Flink calls a process's own directory in each of its temporary ones. */
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
   * @param restore what the store is for, and begins with if that fits; null for an empty one
   * @param rule what compaction has to keep
   */
  static StoreResources open(
      KeyedStateBackendParameters<?> parameters,
      FasterSettings settings,
      @Nullable IncrementalRestore restore,
      KeepRule rule)
      throws IOException {
    Environment env = parameters.getEnv();
    MemoryLease lease = MemoryLease.acquire(env, parameters.getManagedMemoryFraction(), settings);
    LocalDirectory directory = null;
    FasterStore store = null;
    try {
      directory =
          LocalDirectory.create(nextParent(env, settings), parameters.getOperatorIdentifier());
      store = openStore(directory.path().resolve("log"), lease, settings, restore, rule);
      LOG.info(
          "opened a state store: memoryBytes={}, directory={}", lease.bytes(), directory.path());
      LocalStore local =
          new LocalStore(
              store,
              directory.path(),
              settings.sortBufferBytes(),
              settings.uploadStreams(),
              env.getTaskStateManager().createLocalRecoveryConfig());
      return new StoreResources(lease, directory, local);
    } catch (Throwable failure) {
      IOUtils.closeAllQuietly(store, lease, directory);
      throw failure;
    }
  }

  /** Takes the directories in turn, and first removes from all what dead processes have left. */
  private static Path nextParent(Environment env, FasterSettings settings) throws IOException {
    int turn = TURN.getAndIncrement() & Integer.MAX_VALUE;
    List<Path> configured = settings.localDirectories().stream().map(Path::of).toList();
    if (!configured.isEmpty()) {
      configured.forEach(LocalDirectory::removeDead);
      return configured.get(turn % configured.size());
    }
    File[] temporary = env.getIOManager().getSpillingDirectories();
    for (File own : temporary) {
      // Each process has a directory of its own beside those of others.
      for (Path parent : LocalDirectory.children(own.toPath().resolveSibling(""), OF_A_PROCESS)) {
        LocalDirectory.removeDead(parent);
      }
    }
    return temporary[turn % temporary.length].toPath();
  }

  private static FasterStore openStore(
      Path directory,
      MemoryLease lease,
      FasterSettings settings,
      @Nullable IncrementalRestore restore,
      KeepRule rule)
      throws IOException {
    if (restore != null) {
      restore.requirePages(settings.pageBytes());
    }
    BaseLog base = restore == null ? null : restore.base();
    if (base == null) {
      return FasterStore.open(builder(directory, lease, settings, rule).build());
    }
    FasterStore store = base.tryOpen(builder(directory, lease, settings, rule), directory);
    return store != null
        ? store
        : FasterStore.open(base.split(builder(directory, lease, settings, rule)));
  }

  private static StoreConfig.Builder builder(
      Path directory, MemoryLease lease, FasterSettings settings, KeepRule rule) {
    return StoreConfig.builder(directory)
        .memoryBytes(lease.bytes())
        .pageBytes(settings.pageBytes())
        .scratchBytes(scratchBytes(lease.bytes(), settings.pageBytes()))
        .mutableFraction(settings.mutableFraction())
        .mappedReads(MappedReads.areWanted(settings.mappedReads()))
        // No session reads the disk without waiting for it.
        .ioKind(IoKind.FILE)
        .maxSessions(SESSIONS)
        .deleteOnClose(true)
        .backgroundCompaction(true)
        .growingIndex(true)
        .logHalvings(LOG_HALVINGS)
        .keepRule(rule);
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
