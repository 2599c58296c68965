package io.fasterkv.stress;

import io.fasterkv.api.Merge;
import io.fasterkv.api.config.KeyHash;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.operation.version.StoreVersions;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.state.StoreFailure;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;

/**
 * The real parts of a store with four small pages, over a device that keeps only the last writes.
 */
public final class SmallStore {
  public static final int PAGE_BYTES = 4096;
  public static final int PAGES = 4;

  private static final int USERS = 16;
  private static final int SCRATCH_BYTES = 256 << 10;

  /** The log is truncated whenever this many bytes have been written. */
  private static final long KEPT_BYTES = 1 << 20;

  private final LastWrites device = new LastWrites();
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final Engine engine;

  public SmallStore(OffHeapArena arena, RecordKind kind, Merge merge) {
    this(arena, config(kind).build(), merge);
  }

  /** A store with another number of pages, without deltas. */
  SmallStore(OffHeapArena arena, RecordKind kind, int pages) {
    this(arena, config(kind).logMemoryBytes((long) pages * PAGE_BYTES).build(), null);
  }

  /** A store of longs that uses this version shift. */
  public SmallStore(OffHeapArena arena, VersionShift shift) {
    this(arena, config(RecordKind.LONGS).versionShift(shift).build(), null);
  }

  /** A store of records of any length, without deltas. */
  public SmallStore(OffHeapArena arena, KeyHash keyHash) {
    this(arena, config(RecordKind.SPANS).keyHash(keyHash).build(), null);
  }

  private static StoreConfigBuilder config(RecordKind kind) {
    return StoreConfig.builder(Path.of("nowhere"))
        .memoryBytes(1 << 20)
        .logMemoryBytes((long) PAGES * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .mutableFraction(0.5)
        .recordKind(kind);
  }

  private SmallStore(OffHeapArena arena, StoreConfig config, Merge merge) {
    Epochs epochs = new Epochs(USERS, failure);
    engine =
        new Engine(
            epochs,
            new HashIndex(arena, new IndexGeometry(16, 4), 0),
            new HybridLog(config, arena, epochs, device, LogPosition.start(), failure),
            RecordLayout.of(config.recordKind()),
            config.keyHash(),
            new BufferPool(arena, SCRATCH_BYTES),
            new SessionCounters(),
            new StoreVersions(config.versionShift(), 1, Map.of()),
            merge,
            null);
  }

  public Engine engine() {
    return engine;
  }

  public HybridLog log() {
    return engine.log();
  }

  /** The bytes of the device at an address that is already flushed. */
  public MemorySegment written(long address, long bytes) {
    return device.last(address, bytes);
  }

  /** Truncates records that no state needs any more. Call it only while no actor is running. */
  public void tidy() {
    HybridLog log = engine.log();
    log.failure().throwIfSet();
    if (log.flushedAddress() - log.beginAddress() > KEPT_BYTES) {
      log.truncate(log.pageStart(log.headAddress()));
    }
  }
}
