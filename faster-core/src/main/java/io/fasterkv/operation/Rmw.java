package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.LargeWork.Goal;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.OverwriteMark;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.delta.ConditionalInsert;
import io.fasterkv.operation.delta.DeltaRmw;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Read-modify-write (SIGMOD'18, algorithm 4 and table 2).
 *
 * <p>A record in the fuzzy region is not changed: some thread may still be updating it in place, so
 * a copy could miss that update. The operation retries after a refresh, when the region has moved
 * on. A mutable record that is too small for its new value is held against other updaters while its
 * copy is put into the chain, and then sealed: an updater that finds the old record later retries
 * and finds the copy. If the functions can be merged, see {@link DeltaRmw}.
 */
public final class Rmw<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final LargeValues<I, O, C> large;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final RecordLatch latch;
  private final OverwriteMark mark;
  private final ConditionalInsert inserts;
  private final DeltaRmw<I, O, C> deltas;

  public Rmw(
      Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    this.walk = walk;
    fresh = new NewRecord(engine);
    latch = new RecordLatch(engine.layout());
    mark = new OverwriteMark(engine.log());
    inserts = new ConditionalInsert(engine, walk);
    deltas = new DeltaRmw<>(engine, values, large, walk);
  }

  public Step attempt(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    // Read before the entry: a thaw lowers the marks only after all copies of frozen records are in
    // their chains.
    long copyBelow = log.regions().copyBelow();
    long inPlaceFrom = log.regions().inPlaceFrom();
    if (!findEntry(op)) {
      return op.end(Status.NOT_FOUND);
    }
    if (!walk.find(op.key, op.hash, op.entry.address(), log.headAddress())) {
      if (walk.isEnded(begin)) {
        return create(op);
      }
      return deltas.isFor(op)
          ? deltas.onDisk(op, walk.address(), begin)
          : op.readDisk(walk.address(), begin);
    }
    long address = walk.address();
    if (op.version.isTooNew(address, walk.info())) {
      return Step.RETRY;
    }
    if (walk.isTombstone()) {
      return create(op);
    }
    op.recordAddress = walk.address();
    op.region = walk.region(copyBelow);
    boolean isOld = op.version.isOld(address, walk.info());
    boolean isReadOnly = address < copyBelow || (isOld && !op.version.mustWaitForOld());
    if (!isReadOnly && isOld) {
      return Step.RETRY;
    }
    if (!isReadOnly && address < inPlaceFrom) {
      // A record that was ever frozen counts as settled as soon as there is a record above it.
      boolean mayAppend = address >= log.regions().settledBelow() && deltas.isFor(op);
      return mayAppend ? deltas.fuzzy(op, walk, begin) : Step.RETRY;
    }
    long record = log.offset(address);
    if (walk.isDelta()) {
      return onDelta(op, record, isReadOnly, begin);
    }
    if (walk.isLarge()) {
      return changeLarge(op, address, !isReadOnly, begin);
    }
    return isReadOnly ? copy(op, address, log.memory(), record) : change(op, address, record);
  }

  /** Continues after the newest record with the key was found on disk. */
  public Step found(Operation<I, O, C> op) {
    if (op.fold.isOpen()) {
      return deltas.found(op);
    }
    op.recordAddress = op.newestAddress();
    MemorySegment memory = op.found();
    boolean isTooNew = op.version.isTooNew(op.disk.address, RecordLayout.info(memory, 0));
    if (isTooNew || !inserts.isStillNewest(op)) {
      return Step.RESTART;
    }
    if (!RecordInfo.isLarge(RecordLayout.info(memory, 0))) {
      return copy(op, op.disk.address, memory, 0);
    }
    LargeAnchor anchor = large.anchor(memory, 0, op.searchedDownTo);
    return anchor == null
        ? create(op)
        : replaced(op, anchor.bytes(), large.replaceLarge(op, op.disk.address, anchor, fresh));
  }

  /** Continues after the search on disk found no record with the key, or a tombstone. */
  public Step notFound(Operation<I, O, C> op) {
    return inserts.isStillNewest(op) ? create(op) : Step.RESTART;
  }

  /**
   * Finds or creates the entry; returns false if there is none and none is needed, since no value
   * is created.
   */
  private boolean findEntry(Operation<I, O, C> op) {
    if (!values.makesFirst(op)) {
      return engine.index().find(op.hash, op.entry);
    }
    engine.index().findOrCreate(op.hash, op.entry);
    return true;
  }

  private Step create(Operation<I, O, C> op) {
    if (!values.makesFirst(op)) {
      return op.end(Status.NOT_FOUND);
    }
    int bytes = values.initialBytes(op);
    if (large.isLarge(op, bytes)) {
      Step step = large.put(op, Goal.CREATE, bytes, fresh);
      return step == Step.DONE ? op.end(Status.CREATED) : step;
    }
    if (!fresh.allocate(op, bytes)) {
      return Step.RETRY;
    }
    values.updateInitial(op, fresh.memory(), fresh.offset());
    return fresh.publish(op, false) ? op.end(Status.CREATED) : Step.RETRY;
  }

  private Step changeLarge(Operation<I, O, C> op, long address, boolean isMutable, long begin) {
    long record = engine.log().offset(address);
    LargeAnchor anchor = large.anchor(engine.log().memory(), record, begin);
    if (anchor == null) {
      return create(op);
    }
    if (deltas.isFor(op) && deltas.fitsAbove(op, anchor)) {
      return deltas.aboveLarge(op, address, isMutable);
    }
    Step step =
        isMutable
            ? large.replaceLargeHeld(op, address, record, anchor, fresh)
            : large.replaceLarge(op, address, anchor, fresh);
    return replaced(op, anchor.bytes(), step);
  }

  private Step change(Operation<I, O, C> op, long address, long record) {
    MemorySegment memory = engine.log().memory();
    return switch (values.updateInPlace(op, memory, record)) {
      case DONE -> op.end(Status.UPDATED_IN_PLACE);
      case FROZEN -> Step.RETRY;
      case NO_ROOM -> copyMutable(op, address, record);
    };
  }

  private Step onDelta(Operation<I, O, C> op, long record, boolean isReadOnly, long begin) {
    if (!deltas.isFor(op)) {
      return deltas.replace(op, walk, begin);
    }
    return isReadOnly ? deltas.readOnly(op, walk, begin) : changeDelta(op, record, begin);
  }

  private Step changeDelta(Operation<I, O, C> op, long record, long begin) {
    return switch (values.updateDelta(op, engine.log().memory(), record)) {
      case DONE -> op.end(Status.UPDATED_IN_PLACE);
      case FROZEN -> Step.RETRY;
      case NO_ROOM -> deltas.outgrown(op, walk, begin);
    };
  }

  private Step copyMutable(Operation<I, O, C> op, long address, long record) {
    MemorySegment memory = engine.log().memory();
    mark.begin(walk.address());
    int bytes = values.copyBytes(op, memory, record);
    if (large.isLarge(op, bytes)) {
      Step step = large.replaceSmallHeld(op, address, record, bytes, fresh);
      return replaced(op, recordBytes(memory, record), step);
    }
    if (!fresh.allocate(op, bytes)) {
      return Step.RETRY;
    }
    if (!latch.tryHold(op, memory, record)) {
      return Step.RETRY;
    }
    boolean isReplaced = false;
    try {
      if (values.updateCopy(op, memory, record, fresh.memory(), fresh.offset())
          && fresh.publish(op, false)) {
        // Noted first: from here on the record must not change.
        op.heldBits = RecordInfo.SEALED;
        op.heldBits |= mark.bits();
      }
    } finally {
      isReplaced = latch.release(op, memory);
    }
    return replaced(op, recordBytes(memory, record), isReplaced ? Step.DONE : Step.RETRY);
  }

  private Step copy(Operation<I, O, C> op, long address, MemorySegment memory, long record) {
    int bytes = values.successorBytes(op, memory, record);
    if (bytes == ValueAccess.STAYS) {
      return op.end(Status.FOUND);
    }
    if (large.isLarge(op, bytes)) {
      // Copy the old value too: the new one is created outside the epoch.
      int largeBytes = values.copyBytes(op, memory, record);
      Step step = large.replaceSmall(op, address, largeBytes, fresh);
      return replaced(op, recordBytes(memory, record), step);
    }
    boolean isCopied = inserts.copy(op, values, bytes, memory, record);
    return replaced(op, recordBytes(memory, record), isCopied ? Step.DONE : Step.RETRY);
  }

  private long recordBytes(MemorySegment memory, long record) {
    return engine.layout().recordBytes(memory, record);
  }

  /** Ends an operation that is done; {@code oldBytes} is the length of what it replaced. */
  private static Step replaced(Operation<?, ?, ?> op, long oldBytes, Step step) {
    if (step != Step.DONE) {
      return step;
    }
    op.endedBytes = oldBytes;
    return op.end(Status.COPIED);
  }
}
