package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.delta.DeltaWalk;
import io.fasterkv.operation.delta.ReadCopies;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/** Read (SIGMOD'18, algorithm 2). */
public final class Read<I, O, C> {
  private final Engine engine;
  private final ValueAccess<I, O, C> values;
  private final LargeValues<I, O, C> large;
  private final ChainWalk walk;
  private final DeltaWalk deltas;
  private final ReadCopies<I, O, C> copies;

  public Read(
      Engine engine, ValueAccess<I, O, C> values, LargeValues<I, O, C> large, ChainWalk walk) {
    this.engine = engine;
    this.values = values;
    this.large = large;
    this.walk = walk;
    deltas = new DeltaWalk(engine, walk);
    copies = new ReadCopies<>(engine, walk);
  }

  public void copyReads(CopyReads wanted) {
    copies.set(wanted);
  }

  public Step attempt(Operation<I, O, C> op) {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    if (!engine.index().find(op.hash, op.entry)) {
      return op.end(Status.NOT_FOUND);
    }
    if (!walk.find(op.key, op.hash, op.entry.address(), log.headAddress())) {
      if (!walk.isEnded(begin)) {
        return op.readDisk(walk.address(), begin);
      }
      engine.freeIfDropped(op.hash, op.entry);
      return op.end(Status.NOT_FOUND);
    }
    if (op.version.isTooNew(walk.address(), walk.info())) {
      return Step.RETRY;
    }
    if (walk.isTombstone()) {
      return op.end(Status.NOT_FOUND);
    }
    op.recordAddress = walk.address();
    long copyBelow = log.regions().copyBelow();
    op.region = walk.region(copyBelow);
    if (walk.isDelta()) {
      return gather(op, begin);
    }
    long record = log.offset(walk.address());
    if (walk.isLarge()) {
      return large.read(op, log.memory(), record, begin);
    }
    if (walk.address() < copyBelow) {
      values.readStable(op, log.memory(), record);
      if (copies.takesFromMemory() && walk.address() < log.safeReadOnlyAddress()) {
        copies.afterReadOnly(op, log.memory(), record);
      }
    } else {
      values.readConcurrent(op, log.memory(), record);
    }
    return op.end(Status.FOUND);
  }

  /** Reads a value whose newest record, in memory, is a delta. */
  private Step gather(Operation<I, O, C> op, long begin) {
    return switch (deltas.gather(op, walk, begin)) {
      case WHOLE -> {
        if (op.fold.base() != null) {
          yield large.readFold(op);
        }
        values.readStable(op, op.found(), 0);
        copies.afterGathering(op);
        yield op.end(Status.FOUND);
      }
      case MORE_ON_DISK -> op.foldDisk(deltas.diskAddress(), begin);
      case FUZZY -> Step.RETRY;
    };
  }

  /** Ends a read whose record, or part of whose value, came from disk. */
  public Step found(Operation<I, O, C> op) {
    op.recordAddress = op.newestAddress();
    if (op.fold.base() != null) {
      return large.readFold(op);
    }
    MemorySegment memory = op.found();
    if (op.version.isTooNew(op.disk.address, RecordLayout.info(memory, 0))) {
      return Step.RESTART;
    }
    if (RecordInfo.isLarge(RecordLayout.info(memory, 0))) {
      return large.read(op, memory, 0, op.searchedDownTo);
    }
    values.readStable(op, memory, 0);
    copies.afterDisk(op);
    return op.end(Status.FOUND);
  }

  /**
   * Ends a read that found nothing on disk. If the log's begin address has moved since it began,
   * the record may have been moved to the tail in the meantime.
   */
  public Step notFound(Operation<I, O, C> op) {
    if (op.searchedDownTo != engine.log().beginAddress()) {
      return Step.RESTART;
    }
    return op.end(Status.NOT_FOUND);
  }
}
