package io.fasterkv.operation.delta;

import io.fasterkv.api.Status;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.delta.DeltaWalk.Extent;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.LongHash;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;

/**
 * RMW with functions that can be merged (SIGMOD'18, sections 2.1 and 6.3). Where other RMWs wait
 * for the fuzzy region or the disk, this one appends a delta, which is independent of the records
 * below. An RMW whose functions do not want to merge waits like others; if it finds deltas, it
 * writes the whole value with its update.
 *
 * <p>Two rules bound chains of deltas. In memory they are counted: above {@link #MAX_DELTAS} an RMW
 * collects the value and writes it whole. Deltas on disk cannot be counted without reading them.
 * There, one in {@link #MAX_DELTAS} RMWs that would append reads the disk and writes the value
 * whole. It is chosen by the hash and the head of the chain, so that every append draws a new
 * number but a repeated attempt does not. So the length of a chain that is never read is
 * geometrically distributed; one that is read is replaced when it is too long.
 */
public final class DeltaRmw<I, O, C> {
  /** Maximum number of deltas of a key in memory. */
  static final int MAX_DELTAS = 8;

  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final DeltaWalk deltas;
  private final NewRecord fresh;
  private final RecordLatch latch;
  private final ConditionalInsert inserts;
  private final LargeValues<I, O, C> large;

  public DeltaRmw(
      Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    deltas = new DeltaWalk(engine, walk);
    fresh = new NewRecord(engine);
    latch = new RecordLatch(engine.layout());
    inserts = new ConditionalInsert(engine, walk);
  }

  /** Whether an RMW may append a delta or change one. */
  public boolean isFor(Operation<I, O, C> op) {
    return engine.hasDeltas() && values.mergesBlindly(op);
  }

  /** Handles a key with no record in memory whose chain continues on disk. */
  public Step onDisk(Operation<I, O, C> op, long diskAddress, long begin) {
    return isDue(op) || !fits(op) ? op.readDisk(diskAddress, begin) : append(op);
  }

  /** Handles a newest record in the fuzzy region. */
  public Step fuzzy(Operation<I, O, C> op, ChainWalk newest, long begin) {
    return mayAppend(op, newest, begin) ? append(op) : Step.RETRY;
  }

  /** Handles a newest record that is a mutable delta without room. */
  public Step outgrown(Operation<I, O, C> op, ChainWalk newest, long begin) {
    return mayAppend(op, newest, begin)
        ? appendAbove(op, newest.address())
        : replace(op, newest, begin);
  }

  /** Handles a newest record that is a read-only delta. */
  public Step readOnly(Operation<I, O, C> op, ChainWalk newest, long begin) {
    boolean isWhole = deltas.count(op, newest, begin) == Extent.WHOLE;
    // A value in memory is written whole at once, unless that would copy a large value.
    boolean isCheap = isWhole && !deltas.isLarge();
    if (!isCheap && hasRoom(op) && (isWhole || !isDue(op))) {
      return append(op);
    }
    return replace(op, newest, begin);
  }

  /** Handles a newest record with a large value, which must not be copied for each update. */
  public Step aboveLarge(Operation<I, O, C> op, long address, boolean isMutable) {
    return isMutable ? appendAbove(op, address) : append(op);
  }

  /**
   * Whether a delta can be put above the counted records so that the value can still be written
   * whole.
   */
  private boolean hasRoom(Operation<I, O, C> op) {
    return deltas.deltas() < MAX_DELTAS && fits(op) && hasRoom(op, deltas.bytes());
  }

  /** Whether a value of this length can have a delta above it. */
  private boolean hasRoom(Operation<I, O, C> op, long bytes) {
    return bytes + values.initialBytes(op) <= large.mostBytes();
  }

  /** Whether an update of a large value has a delta that can be put above it. */
  public boolean fitsAbove(Operation<I, O, C> op, LargeAnchor anchor) {
    return fits(op) && hasRoom(op, anchor.bytes());
  }

  /** Whether an update has a delta that fits one record; if not, the value is written whole. */
  private boolean fits(Operation<I, O, C> op) {
    return large.fitsPage(op, values.initialBytes(op));
  }

  /** Continues after the rest of the value was found on disk. */
  public Step found(Operation<I, O, C> op) {
    Step step = inserts.replace(op, values, large);
    return step == Step.DONE ? op.end(Status.COPIED) : step;
  }

  private boolean mayAppend(Operation<I, O, C> op, ChainWalk newest, long begin) {
    boolean isOnDisk = deltas.count(op, newest, begin) == Extent.MORE_ON_DISK;
    return hasRoom(op) && !(isOnDisk && isDue(op));
  }

  /** Whether this append, one of several, must write the value whole instead. */
  private boolean isDue(Operation<I, O, C> op) {
    return (LongHash.hash(op.hash ^ op.entry.address()) & (MAX_DELTAS - 1)) == 0;
  }

  private Step append(Operation<I, O, C> op) {
    return write(op) && fresh.publish(op, RecordInfo.DELTA)
        ? op.end(Status.DELTA_APPENDED)
        : Step.RETRY;
  }

  /** Appends above a delta that could still be updated in place, and seals that delta. */
  private Step appendAbove(Operation<I, O, C> op, long address) {
    MemorySegment memory = engine.log().memory();
    long record = engine.log().offset(address);
    if (!write(op) || !latch.tryHold(op, memory, record)) {
      return Step.RETRY;
    }
    boolean isReplaced = false;
    try {
      if (fresh.publish(op, RecordInfo.DELTA)) {
        op.heldBits = RecordInfo.SEALED;
      }
    } finally {
      isReplaced = latch.release(op, memory);
    }
    return isReplaced ? op.end(Status.DELTA_APPENDED) : Step.RETRY;
  }

  private boolean write(Operation<I, O, C> op) {
    if (!fresh.allocate(op, values.initialBytes(op))) {
      return false;
    }
    values.updateInitial(op, fresh.memory(), fresh.offset());
    return true;
  }

  /** Writes the value whole when the newest record is a delta. */
  public Step replace(Operation<I, O, C> op, ChainWalk newest, long begin) {
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
