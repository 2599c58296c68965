package io.fasterkv.stress;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.fastpath.LongPaths;
import io.fasterkv.operation.session.LongCore;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SortedMap;

/**
 * A sum under one key, to which two sessions add during a version shift. The old version's part of
 * the sum must match the sessions' commit points.
 */
public final class ShiftedCounter {
  public static final String SOUND = "sound";
  private static final long KEY = 7;
  private static final int SESSIONS = 2;

  private final SmallStore store;
  private final Engine engine;
  private final VersionShift shift;
  private final boolean freezes;
  private final List<LongCore<Void>> sessions;
  private final LongCore<Void> setUp;
  private final EpochUser user;
  private final IndexEntry entry = new IndexEntry();
  private final KeyBytes key = new KeyBytes();
  private final MemorySegment keyBytes = MemorySegment.ofArray(new long[] {KEY});
  private final long[] base = new long[SESSIONS];
  private long nextVersion;
  private long start;
  private long committed;
  private long atPoints;

  /**
   * @param freezes whether the log is frozen at the end, as for a snapshot, or folded over
   */
  public ShiftedCounter(OffHeapArena arena, VersionShift shift, boolean freezes) {
    store = new SmallStore(arena, shift);
    engine = store.engine();
    this.shift = shift;
    this.freezes = freezes;
    LongPaths paths = new LongPaths(engine);
    sessions = List.of(open(paths, "0"), open(paths, "1"));
    setUp = open(paths, "set up");
    user = engine.epochs().register();
    key.set(keyBytes, Long.BYTES);
  }

  private LongCore<Void> open(LongPaths paths, String name) {
    return LongCore.of(
        engine, SessionIdentity.start(name), paths, LongFunctions.sum(), SessionMode.BLOCKING);
  }

  /** Sets the sum to zero, in a record that can be updated in place. */
  public ShiftedCounter reset() {
    store.tidy();
    setUp.delete(KEY, null);
    setUp.upsert(KEY, 0, null);
    for (int i = 0; i < SESSIONS; i++) {
      base[i] = sessions.get(i).serial();
    }
    return this;
  }

  /** Adds one in each of two operations. */
  public void add() {
    sessions.getFirst().rmw(KEY, 1, null);
    sessions.getFirst().rmw(KEY, 1, null);
  }

  /**
   * Moves to the next version, and adds one twice during the shift, each in the middle of a phase.
   */
  public void shiftAndAdd() {
    // In a coarse-grained shift, an update of the new version would wait here for this thread.
    boolean addsEarly = shift == VersionShift.COARSE;
    long version = SystemState.version(engine.versions().state().word());
    nextVersion = version + 1;
    start = engine.log().tailAddress();
    engine.versions().beginAt(start);
    engine.index().hideQuietTable();
    go(Phase.PREPARE, version, addsEarly);
    engine.versions().latchPending(version);
    go(Phase.IN_PROGRESS, nextVersion, !addsEarly);
    engine.versions().crossAll(nextVersion);
    go(Phase.WAIT_PENDING, nextVersion, true);
    engine.versions().endPending(version);
    SortedMap<String, CommitPoint> points = engine.versions().points(nextVersion);
    long end = end();
    go(Phase.WAIT_FLUSH, nextVersion, false);
    engine.index().showQuietTable();
    if (freezes) {
      engine.log().cuts().awaitFrozen(end);
    } else {
      engine.log().cuts().awaitImmutable(end);
    }
    committed = oldVersionsSum(end);
    atPoints = 0;
    for (int i = 0; i < SESSIONS; i++) {
      atPoints += points.get(Integer.toString(i)).serial() - base[i];
    }
    if (freezes) {
      engine.log().cuts().thawSnapshot();
    }
    engine.versions().state().set(Phase.REST, nextVersion);
  }

  private long end() {
    user.protect();
    try {
      return freezes ? engine.log().cuts().freezeForSnapshot() : engine.log().cuts().foldOver();
    } finally {
      user.unprotect();
    }
  }

  private void go(Phase phase, long version, boolean adds) {
    engine.versions().state().set(phase, version);
    if (adds) {
      sessions.getLast().rmw(KEY, 1, null);
    }
    engine.awaitEarlierOperations();
  }

  /** Follows the chain back to the old version's record; returns its sum. */
  private long oldVersionsSum(long end) {
    user.protect();
    try {
      long hash = engine.hash(key);
      if (!engine.index().enter(hash, entry) || !engine.index().find(hash, entry)) {
        return -1;
      }
      long at = entry.address();
      while (isNew(at, end)) {
        at = RecordInfo.previousAddress(info(at));
      }
      return RecordLayout.info(engine.log().memory(), engine.log().offset(at)) == 0
          ? -1
          : value(at);
    } finally {
      user.unprotect();
    }
  }

  private boolean isNew(long at, long end) {
    boolean isOfNext = RecordInfo.version(info(at)) == nextVersion % RecordInfo.VERSIONS;
    return at >= end || (at >= start && isOfNext);
  }

  private long info(long at) {
    return RecordLayout.info(engine.log().memory(), engine.log().offset(at));
  }

  private long value(long at) {
    return Words.loadAcquire(engine.log().memory(), engine.log().offset(at) + LongRecord.VALUE);
  }

  /** What is wrong after both actors and a shift. */
  public String defect() {
    setUp.read(KEY, null);
    long sum = setUp.value();
    if (sum != 2 * SESSIONS) {
      return "sum=" + sum;
    }
    return committed == atPoints ? SOUND : "committed=" + committed + ", at the points=" + atPoints;
  }
}
