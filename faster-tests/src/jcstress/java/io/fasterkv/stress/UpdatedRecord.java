package io.fasterkv.stress;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A mutable record of two words that one thread updates in place while another makes it read-only
 * and flushes it. The detector compares what the device received with what the updater reported.
 */
public final class UpdatedRecord {
  public static final String IN_PLACE = "in place";
  public static final String READ_ONLY = "read-only";
  public static final String OLD = "old";
  public static final String NEW = "new";
  public static final String TORN = "torn";

  private static final long BYTES = 3 * Long.BYTES;
  private static final int STEPS = 32;

  private final SmallStore store;
  private final HybridLog log;
  private final EpochUser updater;
  private final EpochUser flusher;
  private long address;

  public UpdatedRecord(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.LONGS, null);
    log = store.log();
    updater = store.engine().epochs().register();
    flusher = store.engine().epochs().register();
  }

  public UpdatedRecord reset() {
    store.tidy();
    updater.protect();
    for (address = log.allocate(BYTES); address == HybridLog.RETRY; address = log.allocate(BYTES)) {
      log.assist();
      updater.refresh();
    }
    Words.storeRelease(log.memory(), log.offset(address), RecordInfo.complete(0, false));
    updater.unprotect();
    return this;
  }

  public String update() {
    updater.protect();
    return updateFrom(log.regions().inPlaceFrom());
  }

  /** Broken: reads the mark before the epoch is protected, so the value may be outdated. */
  public String updateBySeenMark() {
    long seen = log.regions().inPlaceFrom();
    for (int step = 0; step < STEPS; step++) {
      Thread.onSpinWait();
    }
    updater.protect();
    return updateFrom(seen);
  }

  private String updateFrom(long inPlaceFrom) {
    boolean isMutable = address >= inPlaceFrom;
    if (isMutable) {
      MemorySegment memory = log.memory();
      long record = log.offset(address);
      Words.storeRelease(memory, record + Long.BYTES, 1);
      for (int step = 0; step < STEPS; step++) {
        Thread.onSpinWait();
      }
      Words.storeRelease(memory, record + 2 * Long.BYTES, 1);
    }
    updater.unprotect();
    return isMutable ? IN_PLACE : READ_ONLY;
  }

  public void flush() {
    flusher.protect();
    log.cuts().foldOver();
    flusher.unprotect();
    log.assist();
  }

  /** Waits until the record is flushed; returns what the device received. */
  public String written() {
    while (log.flushedAddress() < address + BYTES) {
      log.assist();
    }
    MemorySegment record = store.written(address, BYTES);
    long first = record.get(ValueLayout.JAVA_LONG, Long.BYTES);
    long second = record.get(ValueLayout.JAVA_LONG, 2 * Long.BYTES);
    return first != second ? TORN : first == 0 ? OLD : NEW;
  }
}
