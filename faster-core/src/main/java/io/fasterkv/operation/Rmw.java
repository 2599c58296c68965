package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.LargeWork.Goal;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Read-modify-write (SIGMOD'18, algorithm 4 and table 2).
 *
 * <p>A record in the fuzzy region is not touched: some thread may still be updating it in place, so
 * a copy could miss that update. The operation comes again after a refresh, by when the region has
 * moved on. A mutable record that is too small for its new value is held against other updaters
 * while its copy gets into the chain, and is sealed when it has: an updater that finds the old
 * record later starts over and finds the copy. Where functions can be merged, see {@link DeltaRmw}.
 */
final class Rmw<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final LargeValues<I, O, C> large;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final OverwriteMark mark;
  private final ConditionalInsert inserts;
  private final DeltaRmw<I, O, C> deltas;

  Rmw(Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    this.walk = walk;
    fresh = new NewRecord(engine);
    mark = new OverwriteMark(engine.log());
    inserts = new ConditionalInsert(engine, walk);
    deltas = new DeltaRmw<>(engine, values, large, walk);
  }

  Step attempt(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    // Before the entry: a thaw lowers them when all copies of what was frozen are in their chains.
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
    op.region = walk.region(copyBelow);
    boolean isOld = op.version.isOld(address, walk.info());
    boolean isReadOnly = address < copyBelow || (isOld && !op.version.mustWaitForOld());
    if (!isReadOnly && isOld) {
      return Step.RETRY;
    }
    if (!isReadOnly && address < inPlaceFrom) {
      // What was frozen once is taken to be settled as soon as something lies above it.
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

  /** Goes on when the newest record with the key was found on disk. */
  Step found(Operation<I, O, C> op) {
    if (op.fold.isOpen()) {
      return deltas.found(op);
    }
    MemorySegment memory = op.found();
    boolean isTooNew = op.version.isTooNew(op.diskAddress, RecordLayout.info(memory, 0));
    if (isTooNew || !inserts.isStillNewest(op)) {
      return Step.RESTART;
    }
    if (!RecordInfo.isLarge(RecordLayout.info(memory, 0))) {
      return copy(op, op.diskAddress, memory, 0);
    }
    LargeAnchor anchor = large.anchor(memory, 0, op.searchedDownTo);
    return anchor == null
        ? create(op)
        : replaced(op, anchor.bytes(), large.replaceLarge(op, op.diskAddress, anchor, fresh));
  }

  /** Goes on when there was no record with the key on disk, or a tombstone. */
  Step notFound(Operation<I, O, C> op) {
    return inserts.isStillNewest(op) ? create(op) : Step.RESTART;
  }

  /** False if there is none, and none is made since no value is. */
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
    if (!values.hold(op, memory, record)) {
      return Step.RETRY;
    }
    long infoBits = 0;
    try {
      if (values.updateCopy(op, memory, record, fresh.memory(), fresh.offset())
          && fresh.publish(op, false)) {
        // This comes first: from here on the record must not change.
        infoBits = RecordInfo.SEALED;
        infoBits |= mark.bits();
      }
    } finally {
      values.letGo(op, memory, record, infoBits);
    }
    return replaced(op, recordBytes(memory, record), infoBits == 0 ? Step.RETRY : Step.DONE);
  }

  private Step copy(Operation<I, O, C> op, long address, MemorySegment memory, long record) {
    int bytes = values.successorBytes(op, memory, record);
    if (bytes == ValueAccess.STAYS) {
      return op.end(Status.FOUND);
    }
    if (large.isLarge(op, bytes)) {
      // The old value is taken along: the new one is made outside of the epoch.
      int largeBytes = values.copyBytes(op, memory, record);
      Step step = large.replaceSmall(op, address, largeBytes, fresh);
      return replaced(op, recordBytes(memory, record), step);
    }
    boolean isThere = inserts.copy(op, values, bytes, memory, record);
    return replaced(op, recordBytes(memory, record), isThere ? Step.DONE : Step.RETRY);
  }

  private long recordBytes(MemorySegment memory, long record) {
    return engine.layout().recordBytes(memory, record);
  }

  /** Ends an operation that is done; what it has replaced was so large. */
  private static Step replaced(Operation<?, ?, ?> op, long oldBytes, Step step) {
    if (step != Step.DONE) {
      return step;
    }
    op.endedBytes = oldBytes;
    return op.end(Status.COPIED);
  }
}
