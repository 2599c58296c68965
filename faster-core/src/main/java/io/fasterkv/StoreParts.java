package io.fasterkv;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.MemoryUse;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.checkpoint.Recovered;
import io.fasterkv.checkpoint.Recovery;
import io.fasterkv.device.BorrowingDevice;
import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.epoch.StoreFailure;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.ChainSteps;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.StoreVersions;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;

/** Creates and connects a store's parts, and closes them in the opposite order. */
record StoreParts(
    StoreConfig config, OffHeapArena arena, LogDevice device, Engine engine, Recovered recovered) {

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
    StoreParts parts =
        build(
            recovery.config(),
            device,
            recovery.position(),
            new HashIndexPlan(recovery.indexGeometry(), recovery.overflowUsed()),
            recovery.recovered());
    try {
      if (device instanceof BorrowingDevice borrowing) {
        borrowing.onFailure(parts.engine().log()::fail);
      }
      recovery.run(parts.engine());
    } catch (RuntimeException | Error e) {
      parts.engine().log().close();
      parts.arena().close();
      throw e;
    }
    return parts;
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
    if (device instanceof BorrowingDevice borrowing) {
      borrowing.start();
    }
  }

  /**
   * Ends all reads of the log's origin, within a bounded time. What has not been copied by then can
   * no longer be read.
   */
  void stopCopying() {
    if (device instanceof BorrowingDevice borrowing) {
      borrowing.stop();
    }
  }

  /** Bytes of the log that only its origin has. */
  long bytesToCopy() {
    return device instanceof BorrowingDevice borrowing ? borrowing.missingBytes() : 0;
  }

  void close(boolean deleteFiles) throws IOException {
    try (arena) {
      try (device) {
        engine.log().close();
      }
      if (deleteFiles) {
        device.delete();
      }
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
            new MemoryBudget(config.memoryBytes()), config.hugePages(), config.preallocate());
    try {
      arena.budget().take("disk read rings", device.memoryBytes());
      StoreFailure failure = new StoreFailure();
      Epochs epochs = new Epochs(config.epochSlots(), failure);
      long lent = config.logMemoryBytes() - (config.logMemoryBytes() >> config.logHalvings());
      HashIndex index = new HashIndex(arena, indexPlan.geometry, indexPlan.overflowUsed, lent);
      HybridLog log = new HybridLog(config, arena, epochs, device, position, failure);
      BufferPool buffers = new BufferPool(arena, config.scratchBytes(), config.largeScratchBytes());
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
              new ChainSteps(),
              new StoreVersions(config.versionShift(), recovered.version() + 1, recovered.points()),
              config.merge(),
              config.keepRule()),
          recovered);
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
