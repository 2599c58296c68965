package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.log.Claim;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordInfo;

/**
 * Delete: marks a mutable record, comes again for one in the fuzzy region, and appends a tombstone
 * above any other. A record that was the whole of its chain leaves the index too.
 */
final class Delete<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final ChainWalk walk;
  private final NewRecord fresh;

  Delete(Engine engine, ValueAccess<I, O, C> values, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.walk = walk;
    fresh = new NewRecord(engine, Claim.TOMBSTONE);
  }

  Step attempt(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    // Before the entry, as for an RMW: the marks may fall.
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
      engine.freeIfDropped(op.entry);
      return op.end(Status.NOT_FOUND);
    }
    op.region = walk.region(copyBelow);
    boolean isOld = isMatch && op.version.isOld(walk.address(), walk.info());
    if (isMatch && walk.address() >= inPlaceFrom && !isOld) {
      return mark(op);
    }
    boolean mayBeChanging = !isOld || op.version.mustWaitForOld();
    if (isMatch && walk.address() >= copyBelow && mayBeChanging) {
      // Another delete may still mark it: both would say that they have found it.
      return Step.RETRY;
    }
    return append(op, isMatch);
  }

  private Step mark(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long record = log.offset(walk.address());
    if (!values.hold(op, log.memory(), record)) {
      return Step.RETRY;
    }
    if (!values.letGo(op, log.memory(), record, RecordInfo.TOMBSTONE)) {
      return Step.RETRY;
    }
    boolean isWholeChain =
        op.entry.address() == walk.address() && walk.previousAddress() < log.removableBelow();
    if (isWholeChain) {
      // If this fails, a newer record is on top; the mark does it alone.
      engine.index().remove(op.entry);
    }
    return found(op);
  }

  private Step found(Operation<I, O, C> op) {
    op.endedBytes = walk.valueRecordBytes();
    engine.died(walk.address());
    return op.end(Status.FOUND);
  }

  private Step append(Operation<I, O, C> op, boolean isInMemory) {
    if (!fresh.allocate(op, 0) || !fresh.publish(op, true)) {
      return Step.RETRY;
    }
    return isInMemory ? found(op) : op.end(Status.FOUND);
  }
}
