package io.fasterkv.stress;

import io.fasterkv.api.KeyHash;
import io.fasterkv.api.Merge;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.VersionShift;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.epoch.StoreFailure;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.ChainSteps;
import io.fasterkv.operation.Engine;
import io.fasterkv.operation.StoreVersions;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;

/**
 * The real parts of a store, of four small pages, over a device that keeps what was written last.
 */
public final class SmallStore {
  public static final int PAGE_BYTES = 4096;
  public static final int PAGES = 4;

  private static final int USERS = 16;
  private static final int SCRATCH_BYTES = 256 << 10;

  /** The log lets go of what is on the device each time that so much was written. */
  private static final long KEPT_BYTES = 1 << 20;

  private final LastWrites device = new LastWrites();
  private final StoreFailure failure = new StoreFailure();
  private final Engine engine;

  public SmallStore(OffHeapArena arena, RecordKind kind, Merge merge) {
    this(arena, config(kind).build(), merge);
  }

  /** Of more pages, without deltas. */
  SmallStore(OffHeapArena arena, RecordKind kind, int pages) {
    this(arena, config(kind).logMemoryBytes((long) pages * PAGE_BYTES).build(), null);
  }

  /** Of longs, going from version to version in a way. */
  public SmallStore(OffHeapArena arena, VersionShift shift) {
    this(arena, config(RecordKind.LONGS).versionShift(shift).build(), null);
  }

  /** Of records of any length, without deltas. */
  public SmallStore(OffHeapArena arena, KeyHash keyHash) {
    this(arena, config(RecordKind.SPANS).keyHash(keyHash).build(), null);
  }

  private static StoreConfig.Builder config(RecordKind kind) {
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
            new ChainSteps(),
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

  /** What the device has at an address whose flush was waited for. */
  public MemorySegment written(long address, long bytes) {
    return device.last(address, bytes);
  }

  /** Lets go of what nobody in a state needs any more; no actor is running. */
  public void tidy() {
    HybridLog log = engine.log();
    log.throwIfFailed();
    if (log.flushedAddress() - log.beginAddress() > KEPT_BYTES) {
      log.truncate(log.pageStart(log.headAddress()));
    }
  }
}
