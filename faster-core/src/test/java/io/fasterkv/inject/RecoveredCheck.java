package io.fasterkv.inject;

import io.fasterkv.FasterStore;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.checkpoint.CommitPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/** Compares a recovered store with the earlier operations of the sessions. */
final class RecoveredCheck {
  private static final CommitPoint NONE = CommitPoint.NONE;

  private final Setting setting;
  private final List<SessionWork> works;
  private final Values known;

  RecoveredCheck(Setting setting, List<SessionWork> works, Values known) {
    this.known = known;
    this.setting = setting;
    this.works = works;
  }

  /**
   * Throws unless each session has a prefix of at least this many operations; then uses the store.
   */
  void check(FasterStore store, long[] atLeast) {
    long[] points = new long[atLeast.length];
    List<List<Op>> ops = new ArrayList<>();
    SortedMap<String, CommitPoint> recovered = store.checkpoints().recoveredPoints();
    for (int i = 0; i < points.length; i++) {
      points[i] = recovered.getOrDefault(Life.name(i), NONE).serial();
      ops.add(List.of());
      if (points[i] < atLeast[i]) {
        throw new AssertionError(
            "session=" + i + ", point=" + points[i] + ", allowed=from " + atLeast[i]);
      }
    }
    works.forEach(work -> ops.set(work.number(), work.ops()));
    works.forEach(
        work -> requireReported(work, recovered.getOrDefault(Life.name(work.number()), NONE)));
    StoreInvariants.check(store);
    try (Hand reader = setting.reader(store)) {
      new History(ops).check(points, key -> read(reader, key));
      for (int i = 0; i < LazyRestore.KEYS; i++) {
        long key = SessionWork.key(LazyRestore.SESSION, i);
        if (!known.allows(key, read(reader, key))) {
          throw new AssertionError("restored key=" + i + ", allowed=" + known.of(key));
        }
      }
      reader.issue(new Op(Op.Kind.RMW, SessionWork.COUNTER, 1));
    }
    store.checkpoints().take();
    StoreInvariants.check(store);
  }

  /** An update that was reported as effective is not excluded from a commit point. */
  private static void requireReported(SessionWork work, CommitPoint point) {
    for (Op op : work.ops()) {
      boolean isDone = op.end == Op.End.DONE && op.kind != Op.Kind.READ;
      if (isDone && point.excluded().contains(op.serial)) {
        throw new AssertionError("excluded, but done: " + op + ", point=" + point);
      }
    }
  }

  private static long read(Hand reader, long key) {
    Op op = new Op(Op.Kind.READ, key, 0);
    reader.issue(op);
    return op.value;
  }
}
