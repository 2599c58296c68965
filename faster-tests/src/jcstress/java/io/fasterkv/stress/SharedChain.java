package io.fasterkv.stress;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.move.RecordMover;
import io.fasterkv.operation.session.SessionCore;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;

/**
 * One chain for all keys: compaction moves a record to its top while other records are added. Each
 * record must be newer than the one below it in the chain; otherwise records are cut off when the
 * begin address passes one of them.
 */
final class SharedChain {
  static final String WHOLE = "whole";
  static final String LEADS_UP = "leads up";

  private static final long HASH = 5;
  private static final int INSERTED = 3;

  private final SmallStore store;
  private final SessionCore<Long, long[], Void> session;
  private final RecordMover mover;
  private final EpochUser user;
  private final IndexEntry entry = new IndexEntry();
  private final ByteSpan moved = ByteSpan.of(new byte[Long.BYTES]);
  private final ByteSpan inserted = ByteSpan.of(new byte[Long.BYTES]);
  private final ByteSpan value = ByteSpan.of(new byte[Long.BYTES]);
  private long address;

  SharedChain(OffHeapArena arena) {
    store = new SmallStore(arena, (memory, offset, length) -> HASH);
    session =
        SessionCore.spans(store.engine(), null, null, new SumFunctions(), SessionMode.BLOCKING);
    mover = new RecordMover(store.engine(), null);
    user = store.engine().epochs().register();
  }

  /** Leaves one read-only record and no other. */
  SharedChain reset() {
    store.tidy();
    store.engine().index().soleTable().memory().fill((byte) 0);
    session.upsert(moved, null, value, null);
    address = newest();
    store.engine().foldOver();
    while (store.log().safeReadOnlyAddress() <= address) {
      store.log().assist();
    }
    return this;
  }

  private long newest() {
    user.protect();
    try {
      store.engine().index().enter(HASH, entry);
      return store.engine().index().find(HASH, entry) ? entry.address() : 0;
    } finally {
      user.unprotect();
    }
  }

  void move() {
    if (!mover.moveIfLive(address, moved, value, address + 1, false)) {
      throw new AssertionError("the record is live");
    }
  }

  void insert() {
    for (int key = 1; key <= INSERTED; key++) {
      inserted.putLong(0, key);
      session.upsert(inserted, null, value, null);
    }
  }

  /** What is wrong with the chain. */
  String defect() {
    int records = 0;
    user.protect();
    try {
      for (long at = newestProtected(); at >= address; records++) {
        long info = RecordLayout.info(store.log().memory(), store.log().offset(at));
        if (RecordInfo.previousAddress(info) >= at) {
          return LEADS_UP;
        }
        at = RecordInfo.previousAddress(info);
      }
    } finally {
      user.unprotect();
    }
    return records == INSERTED + 2 ? WHOLE : "of " + records;
  }

  private long newestProtected() {
    store.engine().index().enter(HASH, entry);
    return store.engine().index().find(HASH, entry) ? entry.address() : 0;
  }
}
