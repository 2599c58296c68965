package io.fasterkv.checkpoint.shift;

import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.checkpoint.manifest.VersionCut;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import java.util.SortedMap;
import java.util.TreeMap;

/** The state of a version shift in progress, with everything needed to complete it. */
public final class ShiftRun implements AutoCloseable {
  private final Engine engine;

  /** Registered in advance, so that {@link #end} cannot fail for lack of a slot. */
  private final EpochUser user;

  /** Whether the log is frozen during the write instead of made read-only. */
  private final boolean freezes;

  /** The version that is committed; the shift leads to the next one. */
  private final long version;

  /**
   * The log's begin address, pinned before the shift. Compaction may drop a record of this version
   * as replaced because it has seen one of the next version; the pin keeps that record in the
   * checkpoint.
   */
  private final long begin;

  private long start;
  private long end;
  private boolean isPinned = true;
  private boolean isFrozen;
  private SortedMap<String, CommitPoint> points = new TreeMap<>();

  /**
   * @throws io.fasterkv.api.StoreException.OutOfBudget if there is no free epoch slot
   */
  ShiftRun(Engine engine, CheckpointKind kind, long version) {
    this.engine = engine;
    user = engine.epochs().register();
    this.version = version;
    freezes = kind != CheckpointKind.FOLD_OVER;
    try {
      begin = engine.log().pins().pin();
    } catch (Throwable e) {
      user.close();
      throw e;
    }
  }

  public Engine engine() {
    return engine;
  }

  public long version() {
    return version;
  }

  /** Notes the tail: records of the next version are at or above it. */
  public void start() {
    start = engine.log().tailAddress();
    engine.versions().beginAt(start);
  }

  public void points(SortedMap<String, CommitPoint> ofSessions) {
    points = ofSessions;
  }

  /**
   * Notes the tail, below which all records of the version are, and makes them immutable. Must not
   * fail: operations after the shift would change records in place while operations of the shift
   * are copying them.
   */
  void end() {
    HybridLog log = engine.log();
    isFrozen = freezes;
    user.protect();
    try {
      end = freezes ? log.cuts().freezeForSnapshot() : log.cuts().foldOver();
    } finally {
      user.unprotect();
    }
  }

  void awaitFrozen() {
    if (isFrozen) {
      engine.log().cuts().awaitFrozen(end);
    }
  }

  VersionCut cut() {
    return new VersionCut(version, begin, start, end, points);
  }

  /** Transfers the pin of the log's begin address to the caller. */
  long handOverPin() {
    isPinned = false;
    return begin;
  }

  /** Ends freeze and pin. */
  @Override
  public void close() {
    user.close();
    try {
      if (isFrozen) {
        isFrozen = false;
        engine.log().cuts().thawSnapshot();
      }
    } finally {
      if (isPinned) {
        isPinned = false;
        engine.log().pins().unpin(begin);
      }
    }
  }
}
