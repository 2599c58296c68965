package io.fasterkv.stress;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.operation.fastpath.LongPaths;
import io.fasterkv.operation.session.LongCore;

/** Two keys of longs, and sessions that take the fast path in memory whenever possible. */
public final class BatchedLongs {
  private static final long KEY = 7;
  private static final long OTHER_KEY = 8;
  private static final int BATCH = 3;

  private final SmallStore store;
  private final HybridLog log;
  private final LongPaths paths;
  private final LongCore<Void> batching;
  private final LongCore<Void> single;
  private final EpochUser folder;
  private final long[] keys = {KEY, OTHER_KEY, KEY};
  private final long[] ones = {1, 1, 1};
  private final Status[] statuses = new Status[BATCH];

  public BatchedLongs(OffHeapArena arena) {
    store = new SmallStore(arena, RecordKind.LONGS, null);
    log = store.log();
    paths = new LongPaths(store.engine());
    batching = open();
    single = open();
    folder = store.engine().epochs().register();
  }

  private LongCore<Void> open() {
    return LongCore.of(store.engine(), null, paths, LongFunctions.sum(), SessionMode.BLOCKING);
  }

  /** Sets both keys to zero, in records that are updated in place unless a page was just turned. */
  public BatchedLongs reset() {
    store.tidy();
    for (long any : new long[] {KEY, OTHER_KEY}) {
      single.delete(any, null);
      single.upsert(any, 0, null);
    }
    return this;
  }

  /** Adds one to the key twice, in one batch. */
  public void addInBatch() {
    batching.rmw(keys, ones, statuses, 0, BATCH, null);
  }

  /** Adds one to the key twice, in two single operations. */
  public void add() {
    single.rmw(KEY, 1, null);
    single.rmw(KEY, 1, null);
  }

  /** Sets both keys to one in one batch; returns the status of the first. */
  public Status upsertInBatch() {
    batching.upsert(keys, ones, statuses, 0, BATCH - 1, null);
    return statuses[0];
  }

  /** Sets the key with one of the sessions, and reads it with the same session. */
  public long setAndRead(boolean byFirst, long to) {
    LongCore<Void> session = byFirst ? batching : single;
    session.upsert(KEY, to, null);
    return session.read(KEY, null) == Status.FOUND ? session.value() : -1;
  }

  public Status delete() {
    return single.delete(KEY, null);
  }

  /** The key's value, or -1 if it has none. */
  public long value() {
    return single.read(KEY, null) == Status.FOUND ? single.value() : -1;
  }

  /** Makes all records read-only. */
  public void foldOver() {
    folder.protect();
    log.cuts().foldOver();
    folder.unprotect();
    log.assist();
  }
}
