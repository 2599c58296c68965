package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.log.Claim;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.RecordInfo;

/**
 * Deletes a key: marks a mutable record, retries for one in the fuzzy region, and appends a
 * tombstone above any other. If the record was the whole chain, its index entry is freed too.
 */
public final class Delete<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final RecordLatch latch;
  private final boolean isObserved;

  public Delete(Engine engine, ValueAccess<I, O, C> values, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.walk = walk;
    fresh = new NewRecord(engine, Claim.TOMBSTONE);
    latch = new RecordLatch(engine.layout());
    isObserved = values.observesDeletes();
  }

  public Step attempt(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    // Read before the entry, as for an RMW: the marks may fall.
    long copyBelow = log.regions().copyBelow();
    long inPlaceFrom = log.regions().inPlaceFrom();
    if (!engine.index().find(op.hash, op.entry)) {
      return op.end(Status.NOT_FOUND);
    }
    boolean isMatch = walk.find(op.key, op.hash, op.entry.address(), log.headAddress());
    if (isMatch && op.version.isTooNew(walk.address(), walk.info())) {
      return Step.RETRY;
    }
    if (walk.isTombstone() || walk.isEnded(begin)) {
      engine.freeIfDropped(op.hash, op.entry);
      return op.end(Status.NOT_FOUND);
    }
    op.region = walk.region(copyBelow);
    boolean isOld = isMatch && op.version.isOld(walk.address(), walk.info());
    if (isMatch && walk.address() >= inPlaceFrom && !isOld) {
      return mark(op);
    }
    boolean mayBeChanging = !isOld || op.version.mustWaitForOld();
    if (isMatch && walk.address() >= copyBelow && mayBeChanging) {
      // Another delete may still mark the record, and both would report that they have found it.
      return Step.RETRY;
    }
    return append(op, isMatch);
  }

  private Step mark(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long record = log.offset(walk.address());
    if (!latch.tryHold(op, log.memory(), record)) {
      return Step.RETRY;
    }
    if (isObserved) {
      op.recordAddress = walk.address();
      callBack(op, record);
    }
    op.heldBits = RecordInfo.TOMBSTONE;
    if (!latch.release(op, log.memory())) {
      return Step.RETRY;
    }
    boolean isWholeChain =
        op.entry.address() == walk.address() && walk.previousAddress() < log.removableBelow();
    if (isWholeChain) {
      // If this fails, a newer record is on top or the entry must stay, and the mark is enough.
      engine.index().remove(op.hash, op.entry);
    }
    return found(op);
  }

  /** An anchor or a delta is not the value. */
  private void callBack(Operation<I, O, C> op, long record) {
    if (walk.isSmallValue()) {
      values.deleteInPlace(op, engine.log().memory(), record);
    } else {
      values.deleteUnseen(op);
    }
  }

  private Step found(Operation<I, O, C> op) {
    op.endedBytes = walk.valueRecordBytes();
    engine.died(walk.address());
    return op.end(Status.FOUND);
  }

  private Step append(Operation<I, O, C> op, boolean isMatch) {
    if (!fresh.allocate(op, 0)) {
      return Step.RETRY;
    }
    if (isObserved) {
      values.deleteUnseen(op);
    }
    if (!fresh.publish(op, true)) {
      return Step.RETRY;
    }
    return isMatch ? found(op) : op.end(Status.FOUND);
  }
}
