package io.fasterkv.stress;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;

/**
 * A record that one thread reads in memory while another fills pages until the record's frame holds
 * another page. Detects a frame that is cleared under its reader.
 */
public final class EvictedRecord {
  public static final String IN_MEMORY = "in memory";
  public static final String ON_DISK = "on disk";
  public static final String REUSED = "frame reused under the reader";

  private static final long BYTES = SmallStore.PAGE_BYTES / 2 + 8;
  private static final int READER_STEPS = 64;

  private final SmallStore store;
  private final HybridLog log;
  private final EpochUser reader;
  private final EpochUser writer;
  private long address;

  public EvictedRecord(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.LONGS, null);
    log = store.log();
    reader = store.engine().epochs().register();
    writer = store.engine().epochs().register();
  }

  /** Appends the record and pages after it, so that one more page evicts the record. */
  public EvictedRecord reset() {
    store.tidy();
    writer.protect();
    address = append();
    for (int page = 1; page < SmallStore.PAGES - 1; page++) {
      append();
    }
    writer.unprotect();
    return this;
  }

  public String read() {
    reader.protect();
    return readFrom(log.headAddress());
  }

  /** Broken: reads the head address before the epoch is protected, so the value may be outdated. */
  public String readBySeenHead() {
    long seen = log.headAddress();
    for (int step = 0; step < READER_STEPS; step++) {
      Thread.onSpinWait();
    }
    reader.protect();
    return readFrom(seen);
  }

  private String readFrom(long head) {
    String seen = ON_DISK;
    if (address >= head) {
      seen = IN_MEMORY;
      for (int step = 0; step < READER_STEPS; step++) {
        if (Words.loadAcquire(log.memory(), log.offset(address) + Long.BYTES) != address) {
          seen = REUSED;
        }
      }
    }
    reader.unprotect();
    return seen;
  }

  /** Fills pages until the record's frame holds another page. */
  public void evict() {
    writer.protect();
    for (int page = 0; page < SmallStore.PAGES; page++) {
      append();
    }
    writer.unprotect();
  }

  /** Whether the frame certainly holds another page. */
  public boolean isEvicted() {
    return log.headAddress() > address;
  }

  /** Appends one record to a new page. */
  private long append() {
    long record = log.allocate(BYTES);
    while (record == HybridLog.RETRY) {
      log.assist();
      writer.refresh();
      record = log.allocate(BYTES);
    }
    Words.storePlain(log.memory(), log.offset(record) + Long.BYTES, record);
    Words.storeRelease(log.memory(), log.offset(record), RecordInfo.padding(BYTES));
    return record;
  }
}
