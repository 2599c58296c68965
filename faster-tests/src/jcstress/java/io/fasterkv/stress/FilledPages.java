package io.fasterkv.stress;

import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import java.util.ArrayList;
import java.util.List;

/**
 * Pages of a store that is large enough to clear frames on a dedicated thread, while the threads
 * that turn pages also clear some.
 */
final class FilledPages extends WrittenPages {
  private static final int PAGES = 32;
  private static final long MIDDLE = PAGE_BYTES / 4;
  private static final long BYTES = PAGE_BYTES / 2 + 8;

  private final SmallStore store;
  private final HybridLog log;
  private final List<EpochUser> users = new ArrayList<>();
  private volatile boolean isDirty;

  FilledPages(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.LONGS, PAGES);
    log = store.log();
    for (int actor = 0; actor < ACTORS; actor++) {
      users.add(store.engine().epochs().register());
    }
  }

  FilledPages reset() {
    forget();
    store.tidy();
    return this;
  }

  /** Fills some pages with one record each. */
  void fill(int actor) {
    EpochUser user = users.get(actor);
    user.protect();
    for (int number = 0; number < EACH; number++) {
      long record = log.allocate(BYTES);
      while (record == HybridLog.RETRY) {
        log.assist();
        user.refresh();
        record = log.allocate(BYTES);
      }
      if (!isClear(record)) {
        isDirty = true;
      }
      Words.storePlain(log.memory(), log.offset(record + MIDDLE), record);
      Words.storePlain(log.memory(), log.offset(record + BYTES) - Long.BYTES, record);
      Words.storeRelease(log.memory(), log.offset(record), RecordInfo.padding(BYTES));
      written(actor, number, record);
    }
    user.unprotect();
  }

  private boolean isClear(long record) {
    return Words.loadPlain(log.memory(), log.offset(record + MIDDLE)) == 0
        && Words.loadPlain(log.memory(), log.offset(record + BYTES) - Long.BYTES) == 0;
  }

  @Override
  protected boolean holds(long address) {
    return !isDirty
        && Words.loadPlain(log.memory(), log.offset(address)) == RecordInfo.padding(BYTES)
        && Words.loadPlain(log.memory(), log.offset(address + MIDDLE)) == address
        && Words.loadPlain(log.memory(), log.offset(address + BYTES) - Long.BYTES) == address;
  }
}
