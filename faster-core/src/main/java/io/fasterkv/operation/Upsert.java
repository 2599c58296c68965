package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.LargeWork.Goal;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.OverwriteMark;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;

/**
 * Blind update (SIGMOD'18, algorithm 3). In the fuzzy region it appends a new record although
 * another thread may be updating the old one in place: that update began before this one ends, so
 * it counts as earlier.
 */
public final class Upsert<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final LargeValues<I, O, C> large;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final OverwriteMark mark;

  public Upsert(
      Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    this.walk = walk;
    fresh = new NewRecord(engine);
    mark = new OverwriteMark(engine.log());
  }

  public Step attempt(Operation<I, O, C> op) {
    int bytes = values.upsertBytes(op);
    if (large.neverFitsInPlace()
        && large.isLarge(op, bytes)
        && !large.isReady(op, Goal.UPSERT, bytes)) {
      // Writing the chunks takes so long that an earlier search would be stale.
      return Step.LARGE;
    }
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    // Read before the entry, as for an RMW: the mark may fall.
    long inPlaceFrom = log.regions().inPlaceFrom();
    engine.index().findOrCreate(op.hash, op.entry);
    // Only a record that can be updated in place is worth finding. A delta cannot: it would still
    // be merged with the records below.
    long downTo = Math.max(log.headAddress(), inPlaceFrom);
    boolean isMatch = walk.find(op.key, op.hash, op.entry.address(), downTo);
    if (isMatch && op.version.isTooNew(walk.address(), walk.info())) {
      return Step.RETRY;
    }
    op.recordAddress = walk.address();
    op.region = walk.region(downTo);
    if (walk.isSmallValue() && !op.version.isOld(walk.address(), walk.info())) {
      switch (values.writeInPlace(op, log.memory(), log.offset(walk.address()))) {
        case DONE -> {
          return op.end(Status.UPDATED_IN_PLACE);
        }
        case FROZEN -> {
          return Step.RETRY;
        }
        case NO_ROOM -> {}
      }
    }
    return append(op, bytes, begin);
  }

  private Step append(Operation<I, O, C> op, int bytes, long begin) {
    boolean isOld = walk.isMatch() && op.version.isOld(walk.address(), walk.info());
    boolean isOutgrown = walk.isMatch() && !walk.isTombstone() && !isOld;
    if (isOutgrown) {
      mark.begin(walk.address());
    }
    Step put = put(op, bytes);
    if (put != Step.DONE) {
      return put;
    }
    op.endedBytes = walk.valueRecordBytes();
    if (isOutgrown) {
      engine.died(walk.address());
      long bits = mark.bits();
      if (bits != 0) {
        Words.getAndBitwiseOr(fresh.memory(), engine.log().offset(walk.address()), bits);
      }
      return op.end(Status.COPIED);
    }
    return op.end(walk.isEnded(begin) || walk.isTombstone() ? Status.CREATED : Status.COPIED);
  }

  private Step put(Operation<I, O, C> op, int bytes) {
    if (large.isLarge(op, bytes)) {
      return large.put(op, Goal.UPSERT, bytes, fresh);
    }
    if (!fresh.allocate(op, bytes)) {
      return Step.RETRY;
    }
    values.writeNew(op, fresh.memory(), fresh.offset());
    return fresh.publish(op, false) ? Step.DONE : Step.RETRY;
  }
}
