package io.fasterkv.stress;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The tail of a log whose pages are turned, flushed and reused as in a store. */
final class CrowdedLog extends CrowdedTail {
  private static final int KEY_BYTES = 8;
  private static final long BYTES = 1000;
  private static final long LEAST = 64;
  private static final long MOST = 1400;

  /** Bytes that are left in the page at the start. */
  private static final long ROOM = 1600;

  private final SmallStore store;
  private final HybridLog log;
  private final List<EpochUser> users = new ArrayList<>();
  private final List<KeyBytes> keys = new ArrayList<>();
  private long start;

  CrowdedLog(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.SPANS, null);
    log = store.log();
    for (int actor = 0; actor < ACTORS; actor++) {
      users.add(store.engine().epochs().register());
      KeyBytes key = new KeyBytes();
      key.set(arena.allocate("key", KEY_BYTES, Long.BYTES), KEY_BYTES);
      keys.add(key);
    }
  }

  CrowdedLog reset() {
    forget();
    store.tidy();
    long page = log.pageStart(log.tailAddress());
    EpochUser user = users.getFirst();
    user.protect();
    while (log.pageStart(log.tailAddress()) == page || room() > ROOM) {
      boolean isOnPage = log.pageStart(log.tailAddress()) == page;
      long most = isOnPage ? log.limits().maxRecordBytes() : room() - ROOM;
      fill(log.allocateUpTo(Long.BYTES, most), most, user);
    }
    user.unprotect();
    start = log.tailAddress();
    return this;
  }

  private long room() {
    return PAGE_BYTES - log.tailAddress() % PAGE_BYTES;
  }

  private void fill(long address, long most, EpochUser user) {
    if (address == HybridLog.RETRY) {
      log.assist();
      user.refresh();
    } else {
      long bytes = Math.min(most, log.pageEnd(address) - address);
      Words.storeRelease(log.memory(), log.offset(address), RecordInfo.padding(bytes));
    }
  }

  /** Allocates two records of the same size. */
  void allocate(int actor) {
    inEpoch(actor, number -> record(actor, number, log.allocate(BYTES), BYTES));
  }

  /** Allocates two pieces as large as their pages allow. */
  void allocateUpTo(int actor) {
    inEpoch(actor, number -> record(actor, number, log.allocateUpTo(LEAST, MOST), MOST));
  }

  /** Folds the log over at its current tail. */
  void foldOver(int actor) {
    EpochUser user = users.get(actor);
    user.protect();
    log.cuts().foldOver();
    user.unprotect();
  }

  private interface Attempt {
    boolean succeeds(int number);
  }

  private void inEpoch(int actor, Attempt attempt) {
    EpochUser user = users.get(actor);
    for (int number = 0; number < 2; number++) {
      user.protect();
      while (!attempt.succeeds(number)) {
        log.assist();
        user.refresh();
      }
      user.unprotect();
    }
  }

  private boolean record(int actor, int number, long address, long most) {
    if (address == HybridLog.RETRY) {
      return false;
    }
    long bytes = Math.min(most, log.pageEnd(address) - address);
    SpanRecord.INSTANCE.create(log.memory(), log.offset(address), bytes, keys.get(actor), 0);
    allocated(actor, number, address, address + bytes);
    return true;
  }

  @Override
  protected int recordsFound() {
    MemorySegment memory = log.memory();
    int records = 0;
    for (long at = start; at < log.tailAddress(); ) {
      long word = Words.loadAcquire(memory, log.offset(at));
      if (!RecordInfo.isPresent(word)) {
        at = log.pageEnd(at);
      } else if (RecordInfo.isPadding(word)) {
        at += RecordInfo.paddingBytes(word);
      } else {
        records++;
        at += SpanRecord.INSTANCE.recordBytes(memory, log.offset(at));
      }
    }
    return records;
  }
}
