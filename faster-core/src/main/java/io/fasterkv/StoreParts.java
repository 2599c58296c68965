package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.statistics.MemoryUse;
import io.fasterkv.checkpoint.manifest.Recovered;
import io.fasterkv.checkpoint.recover.Recovery;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.restore.LazyRestoreDevice;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.operation.version.StoreVersions;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.System.Logger.Level;

/** Creates and connects a store's parts, and closes them in the opposite order. */
record StoreParts(
    StoreConfig config,
    OffHeapArena arena,
    LogDevice device,
    Engine engine,
    Recovered recovered,
    EpochWait lastWait) {
  /** A wait for an epoch is logged after this time. */
  private static final long LONG_WAIT_NANOS = 5_000_000_000L;

  /** Places in the epoch table for cuts, scans, checkpoints and compaction. */
  private static final int OWN_SLOTS = 16;

  static StoreParts empty(StoreConfig config, LogDevice device) {
    HashIndexPlan plan = new HashIndexPlan(firstGeometry(config), 0);
    return build(config, device, LogPosition.start(), plan, Recovered.NOTHING);
  }

  /**
   * Builds the parts of a store as it was at a checkpoint; leaves the device open if that fails.
   */
  static StoreParts recovered(
      StoreConfig config, CheckpointToken token, RecoveryRequest request, LogDevice device) {
    Recovery recovery = Recovery.plan(config, token, request);
    try {
      return recovered(recovery, device);
    } catch (OutOfBudget e) {
      return recoveredAgain(recovery, device, e);
    }
  }

  /** Tries again with an index that has all the memory that it may have, if that is more. */
  private static StoreParts recoveredAgain(
      Recovery recovery, LogDevice device, OutOfBudget because) {
    Recovery again = recovery.withWholeIndex();
    if (again.indexGeometry().equals(recovery.indexGeometry())) {
      throw because;
    }
    try {
      return recovered(again, device);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(because);
      throw e;
    }
  }

  private static StoreParts recovered(Recovery recovery, LogDevice device) {
    StoreParts parts =
        build(
            recovery.config(),
            device,
            recovery.position(),
            new HashIndexPlan(recovery.indexGeometry(), recovery.overflowUsed()),
            recovery.recovered());
    try {
      if (device instanceof LazyRestoreDevice restoring) {
        restoring.connect(new LazyRestoreStore(parts.engine().buffers(), parts.engine().log()));
      }
      recovery.run(parts.engine());
    } catch (RuntimeException | Error e) {
      // No session exists yet.
      parts.engine().log().close();
      parts.arena().close();
      throw e;
    }
    return parts;
  }

  /** Rejects sessions and histories of another kind. */
  void requireRecordKind(RecordKind kind) {
    if (config.recordKind() != kind) {
      throw new BadConfig(
          "the session does not fit the store's records: recordKind="
              + config.recordKind()
              + ", allowed="
              + kind);
    }
  }

  /** One place in the epoch table for each session, and some for the store's own work. */
  static int epochSlots(StoreConfig config) {
    return config.maxSessions() + OWN_SLOTS;
  }

  /** Scratch memory for large values. Where deltas are merged, two of them are in use at once. */
  private static long largeScratchBytes(StoreConfig config) {
    if (config.recordKind() == RecordKind.LONGS) {
      return 0;
    }
    return (config.merge() == null ? 1L : 2L) * config.maxValueBytes();
  }

  private static IndexGeometry firstGeometry(StoreConfig config) {
    return config.growingIndex()
        ? IndexGeometry.first(config.indexBytes())
        : IndexGeometry.of(config.indexBytes());
  }

  private record HashIndexPlan(IndexGeometry geometry, long overflowUsed) {}

  MemoryUse memoryUse() {
    MemoryBudget budget = arena.budget();
    long index = budget.usedBytes(HashIndex.MEMORY);
    long log = budget.usedBytes(HybridLog.MEMORY);
    long scratch = budget.usedBytes("scratch buffers");
    long free = engine.buffers().freeBytes();
    long other = budget.usedBytes() - index - log - scratch;
    return new MemoryUse(budget.limitBytes(), index, log, scratch - free, free, Math.max(0, other));
  }

  /** Starts to copy the rest of the log from its origin, if there is one. */
  void copyOrigin() {
    if (device instanceof LazyRestoreDevice restoring) {
      restoring.start();
    }
  }

  /**
   * Ends all reads of the log's origin, within a bounded time. What has not been copied by then can
   * no longer be read.
   */
  void stopCopying() {
    if (device instanceof LazyRestoreDevice restoring) {
      restoring.stop();
    }
  }

  /** Bytes of the log that only its origin has. */
  long bytesToCopy() {
    return device instanceof LazyRestoreDevice restoring ? restoring.missingBytes() : 0;
  }

  /**
   * Ends the parts. If the wait for operations fails, their memory is not freed, since they access
   * it without checks.
   */
  void close(boolean deleteFiles) throws IOException {
    try {
      engine.index().close();
      engine.epochs().awaitUsers(lastWait);
    } catch (Throwable e) {
      closeFiles(e);
      throw e;
    }
    try (arena) {
      try (device) {
        engine.log().close();
      }
      if (deleteFiles) {
        device.delete();
      }
    }
  }

  private void closeFiles(Throwable because) {
    try (device) {
      engine.log().close();
    } catch (Throwable e) {
      because.addSuppressed(e);
    }
  }

  private static StoreParts build(
      StoreConfig config,
      LogDevice device,
      LogPosition position,
      HashIndexPlan indexPlan,
      Recovered recovered) {
    OffHeapArena arena =
        new OffHeapArena(
            new MemoryBudget(config.memoryBytes()),
            config.hugePages(),
            config.preallocate(),
            config.logger());
    try {
      arena.budget().take("disk read rings", device.memoryBytes());
      StoreFailure failure = new StoreFailure(config.logger());
      Epochs epochs = new Epochs(epochSlots(config), failure);
      epochs.reportWaits(LONG_WAIT_NANOS, text -> config.logger().log(Level.WARNING, text));
      long lent = config.logMemoryBytes() - (config.logMemoryBytes() >> config.logHalvings());
      long accepted = config.maxMemoryBytes() - config.memoryBytes();
      // What a table leaves of the index's share may become overflow buckets.
      long spare = config.growingIndex() ? config.indexBytes() : 0;
      HashIndex index =
          new HashIndex(arena, indexPlan.geometry, indexPlan.overflowUsed, spare + lent + accepted);
      HybridLog log = new HybridLog(config, arena, epochs, device, position, failure);
      BufferPool buffers = new BufferPool(arena, config.scratchBytes(), largeScratchBytes(config));
      RecordLayout layout = RecordLayout.of(config.recordKind());
      return new StoreParts(
          config,
          arena,
          device,
          new Engine(
              epochs,
              index,
              log,
              layout,
              config.keyHash(),
              buffers,
              new SessionCounters(),
              new StoreVersions(config.versionShift(), recovered.version() + 1, recovered.points()),
              config.merge(),
              config.keepRule()),
          recovered,
          new EpochWait(epochs, () -> "operations of sessions to end, to free the memory"));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  void closeQuietly(Throwable because) {
    try {
      close(false);
    } catch (Throwable e) {
      because.addSuppressed(e);
    }
  }
}
