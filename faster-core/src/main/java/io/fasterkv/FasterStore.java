package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.checkpoint.export.VersionHead;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.checkpoint.write.CheckpointWriter;
import io.fasterkv.checkpoint.write.KeptCheckpoints;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.compaction.DeviceUpkeep;
import io.fasterkv.compaction.LogUpkeep;
import io.fasterkv.compaction.MemoryUpkeep;
import io.fasterkv.device.LogDevice;
import io.fasterkv.log.DeviceRoom;
import io.fasterkv.log.MemoryRoom;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.fastpath.LongPaths;
import io.fasterkv.operation.fastpath.SpanPaths;
import io.fasterkv.operation.resize.IndexGrowth;
import io.fasterkv.operation.resize.IndexResizer;
import io.fasterkv.operation.resize.LogLoans;
import io.fasterkv.operation.resize.MemoryExchange;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import io.fasterkv.spi.StoreIntegration;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A concurrent, latch-free key-value store whose data may be larger than memory (SIGMOD'18).
 *
 * <p>Each thread accesses the store through a session of its own. Values in the mutable region of
 * the log are updated in place; older ones are copied to the tail when they change; the oldest are
 * on disk. All methods are safe for all threads.
 *
 * <pre>{@code
 * StoreConfig config = StoreConfig.builder(directory).memoryBytes(1L << 30)
 *     .recordKind(RecordKind.LONGS).build();
 * try (FasterStore store = FasterStore.open(config);
 *     LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
 *   session.rmw(42, 1, null);
 * }
 * }</pre>
 */
public final class FasterStore implements AutoCloseable {
  private final StoreConfig config;
  private final StoreParts parts;
  private final StoreCheckpoints checkpoints;
  private final StoreLog log;
  private final StoreIndex index;
  private final StoreStatistics statistics;
  private final StoreIntegration integration;
  private final Compactor compactor;
  private final @Nullable IndexGrowth growth;
  private final MemoryExchange memoryExchange;
  private final LongPaths longPaths;
  private final SpanPaths spanPaths;
  private final LogUpkeep upkeep;
  private final ClosingGate gate;

  private FasterStore(StoreParts parts) {
    this.parts = parts;
    config = parts.config();
    gate = new ClosingGate("directory=" + (config.isInMemory() ? "none" : config.directory()));
    Engine engine = parts.engine();
    compactor = new Compactor(engine);
    IndexResizer resizer = new IndexResizer(engine);
    longPaths = new LongPaths(engine);
    spanPaths = new SpanPaths(engine);
    switch (engine.log().room()) {
      case MemoryRoom room -> {
        checkpoints = new StoreCheckpoints(gate, null, null, parts.recovered().points());
        upkeep = new MemoryUpkeep(engine, room.reserve(), compactor, config);
      }
      case DeviceRoom room -> {
        KeptCheckpoints kept = new KeptCheckpoints(config, engine.log());
        CheckpointWriter writer = new CheckpointWriter(config, engine, kept, parts.recovered());
        CheckpointDriver driver = new CheckpointDriver(engine, kept, writer);
        checkpoints = new StoreCheckpoints(gate, driver, kept, parts.recovered().points());
        upkeep = new DeviceUpkeep(engine, compactor, config);
      }
    }
    log = new StoreLog(parts, gate, compactor, upkeep);
    index = new StoreIndex(gate, resizer);
    statistics = new StoreStatistics(parts, gate, compactor, upkeep);
    growth = growth(parts, resizer);
    memoryExchange = new MemoryExchange(engine, parts.arena(), config.maxMemoryBytes(), growth);
    integration = new IntegratedStore(parts, checkpoints, memoryExchange);
  }

  private static @Nullable IndexGrowth growth(StoreParts parts, IndexResizer resizer) {
    StoreConfig config = parts.config();
    Engine engine = parts.engine();
    LogLoans loans = config.logHalvings() > 0 ? new LogLoans(engine, config.logHalvings()) : null;
    long share = config.growingIndex() ? config.indexBytes() : 0;
    return loans == null && share == 0
        ? null
        : new IndexGrowth(engine, resizer, parts.arena(), share, loans, config.maxMemoryBytes());
  }

  /**
   * Opens an empty store in the configured directory, which must not contain a checkpoint.
   *
   * @param config the settings
   * @return the store
   * @throws BadConfig if the directory contains a checkpoint: recover it, or use another directory
   */
  public static FasterStore open(StoreConfig config) {
    StoreOpening.prepareDirectory(config);
    return StoreOpening.onOwnDevice(config, device -> open(config, device));
  }

  /**
   * Like {@link #open(StoreConfig)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param device stores the log; the store closes it
   * @return the store
   * @throws BadConfig if the store is in memory, where it has no device
   */
  public static FasterStore open(StoreConfig config, LogDevice device) {
    return over(StoreOpening.empty(config, device));
  }

  /**
   * Opens a store as it was at its newest complete checkpoint. Never falls back to an older one.
   *
   * @param config the settings
   * @return the store
   * @throws io.fasterkv.api.StoreException.Corrupt if that checkpoint cannot be read; the message
   *     names the file and the offset
   */
  public static FasterStore recover(StoreConfig config) {
    return recover(config, RecoveryRequest.newest());
  }

  /**
   * Opens a store as it was at a given checkpoint. Later checkpoints are removed.
   *
   * @param config the settings
   * @param token the checkpoint
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, CheckpointToken token) {
    return recover(config, RecoveryRequest.of(token));
  }

  /**
   * Like {@link #recover(StoreConfig, CheckpointToken)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param token the checkpoint
   * @param device stores the log; the store closes it
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, CheckpointToken token, LogDevice device) {
    return recover(config, RecoveryRequest.of(token), device);
  }

  /**
   * Opens a store as it was at the requested checkpoint. Once the whole checkpoint has been read
   * and verified, later checkpoints are removed, and nothing else.
   *
   * @param config the settings
   * @param request the checkpoint, and how to recover
   * @return the store
   * @throws io.fasterkv.api.StoreException.Corrupt if it cannot be read; the message names the file
   *     and the offset
   * @throws BadConfig if there is no such checkpoint, or it does not fit the settings
   */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request) {
    return StoreOpening.onOwnDevice(config, device -> recover(config, request, device));
  }

  /**
   * Like {@link #recover(StoreConfig, RecoveryRequest)}, with the log on the caller's device.
   *
   * @param config the settings
   * @param request the checkpoint, and how to recover
   * @param device stores the log; the store closes it
   * @return the store
   */
  public static FasterStore recover(StoreConfig config, RecoveryRequest request, LogDevice device) {
    return over(StoreOpening.recovered(config, request, device));
  }

  /**
   * Opens the device that a store with these settings would use. Build a device on top of it, for
   * example one that encrypts, and pass that to {@link #open(StoreConfig, LogDevice)}.
   *
   * @param config the settings; their directory must exist
   * @return the device; the caller closes it, or the device on top of it does
   * @throws BadConfig if {@link StoreConfig.IoKind#URING} is requested and not available
   */
  public static LogDevice deviceFor(StoreConfig config) {
    return LogDevices.open(config);
  }

  /**
   * Reads the head of an export, from which a store is to be rebuilt.
   *
   * @param head the bytes that {@link StoreExport#head} returned
   * @param file where the bytes come from, for error messages
   * @return the import
   * @throws io.fasterkv.api.StoreException.Corrupt if the bytes are not those of a head
   */
  public static StoreImport readExport(byte[] head, String file) {
    return VersionHead.read(head, file);
  }

  private static FasterStore over(StoreParts parts) {
    FasterStore store = null;
    try {
      store = new FasterStore(parts);
      store.startBackground();
      return store;
    } catch (Throwable e) {
      if (store != null) {
        store.closeBackground();
      }
      parts.closeQuietly(e);
      throw e;
    }
  }

  /** Starts all threads or none: a thread left running would access memory that was freed. */
  private void startBackground() {
    upkeep.start();
    if (growth != null) {
      growth.start();
    }
  }

  /**
   * Begins to open a session: the builder's method that selects the kind of keys and values opens
   * it.
   *
   * @return a builder
   */
  public SessionBuilder newSession() {
    return new SessionBuilder(parts, gate, longPaths, spanPaths);
  }

  /** {@return the store's checkpoints} */
  public StoreCheckpoints checkpoints() {
    return checkpoints;
  }

  /** {@return the store's log} */
  public StoreLog log() {
    return log;
  }

  /** {@return the store's hash index} */
  public StoreIndex index() {
    return index;
  }

  /** {@return functions for frameworks that embed the store and keep its data elsewhere} */
  public StoreIntegration integration() {
    return integration;
  }

  /** {@return the store's statistics} */
  public StoreStatistics statistics() {
    return statistics;
  }

  /**
   * Forgets a named session that is not open. Later checkpoints do not contain it, and a new
   * session may use its name.
   *
   * @param name the session's name
   * @return whether the session was known
   * @throws BadConfig if it is open
   */
  public boolean forgetSession(String name) {
    gate.requireOpen();
    return parts.engine().versions().forget(name);
  }

  /**
   * Announces that the store will be closed, so that no operation delays the closing. An operation
   * that waits for a full disk, or would have to, throws {@link DeviceFailed}. So does one that
   * reads data that is only in the {@link io.fasterkv.spi.LogOrigin}; the call closes the origin.
   * Everything else continues. Call it from any thread while other threads are in operations that
   * must end before sessions and store can be closed. Returns within some seconds, even if the
   * origin hangs.
   */
  public void stopWaiting() {
    parts.engine().log().room().stopWaiting();
    parts.stopCopying();
  }

  /** {@return the store's settings} */
  public StoreConfig config() {
    return config;
  }

  /**
   * Closes the store and frees its memory and files. Everything written since the last checkpoint
   * is lost. Waits for I/O in progress, and for an operation, a checkpoint, an export, a truncation
   * or a resize of the index on another thread. A compaction ends early, and so does a checkpoint
   * that waits for a log that is still at its origin. Close sessions, cuts, scans, histories,
   * followers and exports first.
   *
   * @throws IllegalStateException if called from inside a callback of a checkpoint or a compaction,
   *     or from a function that a session calls while it is protected
   * @throws DeviceFailed if the device cannot be closed or its files cannot be deleted
   */
  @Override
  public void close() {
    if (parts.engine().epochs().isWithin()) {
      throw new IllegalStateException(
          "a store cannot be closed from within a function of its own session; close it when the"
              + " operation has returned");
    }
    if (!gate.close()) {
      return;
    }
    // If one of these throws, the others are still closed.
    try {
      endWork();
    } finally {
      closeParts();
    }
  }

  /** Ends the background threads, and waits for callers' work. */
  private void endWork() {
    try {
      stopWaiting();
      compactor.stop();
    } finally {
      try {
        closeBackground();
      } finally {
        gate.awaitWork();
      }
    }
  }

  private void closeBackground() {
    try (upkeep;
        growth;
        memoryExchange) {
      // All end their work.
    }
  }

  private void closeParts() {
    try {
      upkeep.release();
    } finally {
      try {
        parts.close(config.deleteOnClose());
      } catch (IOException e) {
        throw new DeviceFailed("the store's device failed to close: " + e.getMessage(), e);
      }
    }
  }
}
