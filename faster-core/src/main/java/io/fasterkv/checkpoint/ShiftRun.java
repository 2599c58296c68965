package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CommitPoint;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is known of a version shift that is under way, and what it needs to come to its end. */
final class ShiftRun implements AutoCloseable {
  private final Engine engine;

  /** Taken before anything begins, so that {@link #end} finds all it needs. */
  private final EpochUser user;

  /** Whether the log is frozen for the time of the writing, and not made read-only. */
  private final boolean freezes;

  /** What is committed; the next one is what the shift leads to. */
  private final long version;

  /**
   * The log's begin, pinned before the shift: compaction that takes a record of this version to be
   * replaced, because it has met one of the next, cannot drop it from the checkpoint.
   */
  private final long begin;

  private long start;
  private long end;
  private boolean isPinned = true;
  private boolean isFrozen;
  private SortedMap<String, CommitPoint> points = new TreeMap<>();

  /**
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the epochs have no room for one user more
   */
  ShiftRun(Engine engine, CheckpointKind kind, long version) {
    this.engine = engine;
    user = engine.epochs().register();
    this.version = version;
    freezes = kind != CheckpointKind.FOLD_OVER;
    try {
      begin = engine.log().holds().pin();
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  Engine engine() {
    return engine;
  }

  long version() {
    return version;
  }

  /** Records of the next version come to lie at the log's tail of now, or above. */
  void start() {
    start = engine.log().tailAddress();
    engine.versions().beginAt(start);
  }

  void points(SortedMap<String, CommitPoint> ofSessions) {
    points = ofSessions;
  }

  /**
   * All records of the version lie below the log's tail of now. Makes them immutable. Must not
   * fail: operations after the shift would change records in place that others in it are copying.
   */
  void end() {
    HybridLog log = engine.log();
    isFrozen = freezes;
    user.protect();
    try {
      end = freezes ? log.freezeForSnapshot() : log.foldOver();
    } finally {
      user.unprotect();
    }
  }

  void awaitFrozen() {
    if (isFrozen) {
      engine.log().awaitFrozen(end);
    }
  }

  VersionCut cut() {
    return new VersionCut(version, begin, start, end, points);
  }

  /** Leaves the pin of the log's begin to the caller. */
  long handOverPin() {
    isPinned = false;
    return begin;
  }

  /** Lets the log go. */
  @Override
  public void close() {
    user.close();
    try {
      if (isFrozen) {
        isFrozen = false;
        engine.log().thawSnapshot();
      }
    } finally {
      if (isPinned) {
        isPinned = false;
        engine.log().holds().unpin(begin);
      }
    }
  }
}
