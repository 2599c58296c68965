package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.operation.DeltaWalk.Extent;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;

/**
 * RMW by functions that can be merged (SIGMOD'18, sections 2.1 and 6.3). Where another RMW waits
 * for the fuzzy region or for the disk, this one appends a delta, which says nothing about what is
 * below. An RMW whose functions say that it does not merge waits as ever, and where it meets deltas
 * it makes the value whole, with its update.
 *
 * <p>Chains of deltas stay bounded in two ways. In memory they are counted: above {@link
 * #MAX_DELTAS} an RMW gathers the value and writes it whole. What is on disk cannot be counted
 * without reading it; there, one RMW in {@link #MAX_DELTAS} of those that would append goes to disk
 * and writes the value whole, chosen by hash and the head of the chain, so that every append draws
 * anew and a repeated attempt does not. So the length of a chain that nobody reads is geometrically
 * distributed; one that is read is replaced when it is too long.
 */
final class DeltaRmw<I, O, C> {
  /** How many deltas of a key are too many. */
  static final int MAX_DELTAS = 8;

  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final DeltaWalk deltas;
  private final NewRecord fresh;
  private final RecordHold held;
  private final ConditionalInsert inserts;
  private final LargeValues<I, O, C> large;

  DeltaRmw(Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    deltas = new DeltaWalk(engine, walk);
    fresh = new NewRecord(engine);
    held = new RecordHold(engine.layout());
    inserts = new ConditionalInsert(engine, walk);
  }

  /** Whether an RMW may append a delta, or change one. */
  boolean isFor(Operation<I, O, C> op) {
    return engine.hasDeltas() && values.mergesBlindly(op);
  }

  /** No record of the key is in memory, and the chain goes on on disk. */
  Step onDisk(Operation<I, O, C> op, long diskAddress, long begin) {
    return isDue(op) || !fits(op) ? op.readDisk(diskAddress, begin) : append(op);
  }

  /** The newest record is in the fuzzy region. */
  Step fuzzy(Operation<I, O, C> op, ChainWalk newest, long begin) {
    return mayAppend(op, newest, begin) ? append(op) : Step.RETRY;
  }

  /** The newest record is a mutable delta that has no room. */
  Step outgrown(Operation<I, O, C> op, ChainWalk newest, long begin) {
    return mayAppend(op, newest, begin)
        ? appendAbove(op, newest.address())
        : replace(op, newest, begin);
  }

  /** The newest record is a delta that is read-only. */
  Step readOnly(Operation<I, O, C> op, ChainWalk newest, long begin) {
    boolean isWhole = deltas.count(op, newest, begin) == Extent.WHOLE;
    // What is in memory is made whole at once, unless that is a large value to be copied.
    boolean isCheap = isWhole && !deltas.isLarge();
    if (!isCheap && hasRoom(op) && (isWhole || !isDue(op))) {
      return append(op);
    }
    return replace(op, newest, begin);
  }

  /** The newest record leads to a large value, which is not to be copied for each update. */
  Step aboveLarge(Operation<I, O, C> op, long address, boolean isMutable) {
    return isMutable ? appendAbove(op, address) : append(op);
  }

  /** Whether a delta can go above what was counted, so that the value can still be made whole. */
  private boolean hasRoom(Operation<I, O, C> op) {
    return deltas.deltas() < MAX_DELTAS && fits(op) && hasRoom(op, deltas.bytes());
  }

  /** Whether a value of so many bytes can have a delta above it. */
  private boolean hasRoom(Operation<I, O, C> op, long bytes) {
    return bytes + values.initialBytes(op) <= large.mostBytes();
  }

  /** Whether an update of a large value has a delta that can go above it. */
  boolean fitsAbove(Operation<I, O, C> op, LargeAnchor anchor) {
    return fits(op) && hasRoom(op, anchor.bytes());
  }

  /** Whether an update has a delta that lies in one record; if not, the value is made whole. */
  private boolean fits(Operation<I, O, C> op) {
    return large.fitsPage(op, values.initialBytes(op));
  }

  /** Goes on when the rest of the value was found on disk. */
  Step found(Operation<I, O, C> op) {
    Step step = inserts.replace(op, values, large);
    return step == Step.DONE ? op.end(Status.COPIED) : step;
  }

  private boolean mayAppend(Operation<I, O, C> op, ChainWalk newest, long begin) {
    boolean isOnDisk = deltas.count(op, newest, begin) == Extent.MORE_ON_DISK;
    return hasRoom(op) && !(isOnDisk && isDue(op));
  }

  /** Whether this is the one append of several that makes the value whole instead. */
  private boolean isDue(Operation<I, O, C> op) {
    return (LongHash.hash(op.hash ^ op.entry.address()) & (MAX_DELTAS - 1)) == 0;
  }

  private Step append(Operation<I, O, C> op) {
    return write(op) && fresh.publish(op, RecordInfo.DELTA)
        ? op.end(Status.DELTA_APPENDED)
        : Step.RETRY;
  }

  /** Appends above a delta that would still be updated in place, and seals that one. */
  private Step appendAbove(Operation<I, O, C> op, long address) {
    MemorySegment memory = engine.log().memory();
    long record = engine.log().offset(address);
    if (!write(op) || !held.take(memory, record)) {
      return Step.RETRY;
    }
    long infoBits = 0;
    try {
      if (fresh.publish(op, RecordInfo.DELTA)) {
        infoBits = RecordInfo.SEALED;
      }
    } finally {
      held.letGo(memory, record, infoBits);
    }
    return infoBits == 0 ? Step.RETRY : op.end(Status.DELTA_APPENDED);
  }

  private boolean write(Operation<I, O, C> op) {
    if (!fresh.allocate(op, values.initialBytes(op))) {
      return false;
    }
    values.updateInitial(op, fresh.memory(), fresh.offset());
    return true;
  }

  /** The newest record is a delta, and the value is to be made whole. */
  Step replace(Operation<I, O, C> op, ChainWalk newest, long begin) {
    return switch (deltas.gather(op, newest, begin)) {
      case WHOLE -> {
        op.searchedFrom = op.entry.address();
        yield found(op);
      }
      case MORE_ON_DISK -> op.foldDisk(deltas.diskAddress(), begin);
      case FUZZY -> Step.RETRY;
    };
  }
}
