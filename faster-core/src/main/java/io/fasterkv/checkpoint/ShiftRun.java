package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Engine;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is known of a version shift that is under way. */
final class ShiftRun {
  private final Engine engine;

  /** Whether the log is frozen for the time of the writing, and not made read-only. */
  private final boolean freezes;

  /** What is committed; the next one is what the shift leads to. */
  private final long version;

  private long start;
  private long begin;
  private long end;
  private boolean isPinned;
  private boolean isFrozen;
  private SortedMap<String, Long> points = new TreeMap<>();

  ShiftRun(Engine engine, CheckpointKind kind, long version) {
    this.engine = engine;
    this.version = version;
    freezes = kind != CheckpointKind.FOLD_OVER;
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

  void points(SortedMap<String, Long> ofSessions) {
    points = ofSessions;
  }

  /**
   * All records of the version lie below the log's tail of now. Makes them immutable, and pins the
   * log's begin: nothing has been moved to the next version yet.
   */
  void end() {
    HybridLog log = engine.log();
    begin = log.holds().pin();
    isPinned = true;
    end = freezes ? engine.freezeForSnapshot() : engine.foldOver();
    isFrozen = freezes;
  }

  void awaitFrozen() {
    if (isFrozen) {
      engine.log().awaitFrozen(end);
    }
  }

  VersionCut cut() {
    // What has expired meanwhile is not there, of whatever version it was.
    return new VersionCut(version, begin, Math.max(start, begin), end, points);
  }

  /** Leaves the pin of the log's begin to the caller. */
  long handOverPin() {
    isPinned = false;
    return begin;
  }

  /** Lets the log go. */
  void release() {
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
