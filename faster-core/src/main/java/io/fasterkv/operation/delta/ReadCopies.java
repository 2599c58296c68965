package io.fasterkv.operation.delta;

import io.fasterkv.api.StoreException;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Copies what a read has found to the tail for later reads (SIGMOD'18, appendix D): a record from
 * disk or the read-only region if the session wants that, and always a whole value that replaces
 * too many deltas. The read has already ended; it does not matter to it whether the copy succeeds,
 * and a copy that loses a race is not repeated.
 */
public final class ReadCopies<I, O, C> {
  private final HybridLog log;
  private final RecordLayout layout;
  private final ConditionalInsert inserts;
  private final SameValue<I, O, C> same;
  private CopyReads wanted = CopyReads.NEVER;

  public ReadCopies(Engine engine, ChainWalk walk) {
    log = engine.log();
    inserts = new ConditionalInsert(engine, walk);
    layout = engine.layout();
    same = new SameValue<>(layout);
  }

  public void set(CopyReads copyReads) {
    wanted = log.room().readCopies(copyReads);
  }

  /** Whether records in the read-only region are copied. */
  public boolean takesFromMemory() {
    return wanted == CopyReads.FROM_DISK_AND_READ_ONLY;
  }

  /** Called after the operation has read a record or a fold that was found on disk. */
  public void afterDisk(Operation<I, O, C> op) {
    if (!op.version.isPlain()) {
      return;
    }
    boolean isWanted = wanted != CopyReads.NEVER && op.disk.address >= log.beginAddress();
    if (isWanted || isTooLong(op)) {
      tryReplace(op);
    }
  }

  /** Called after the operation has read a value that was collected in memory. */
  public void afterGathering(Operation<I, O, C> op) {
    if (isTooLong(op) && op.version.isPlain()) {
      op.searchedFrom = op.entry.address();
      tryReplace(op);
    }
  }

  /** Called after the operation has read a stable record in memory, in the chain of its entry. */
  public void afterReadOnly(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!op.version.isPlain()) {
      return;
    }
    try {
      if (inserts.copy(op, same, memory, record)) {
        leaveRoom(op, memory, record);
      }
    } catch (StoreException e) {
      // The log takes no writes; the next write reports why.
    }
  }

  /** Counts the spare capacity of the record, which was not copied. */
  private void leaveRoom(Operation<I, O, C> op, MemorySegment memory, long record) {
    op.endedBytes = layout.recordBytes(memory, record) - op.madeBytes;
  }

  private static boolean isTooLong(Operation<?, ?, ?> op) {
    return op.fold.isOpen() && op.fold.records() > DeltaRmw.MAX_DELTAS;
  }

  private void tryReplace(Operation<I, O, C> op) {
    try {
      boolean isRecord = !op.fold.isOpen();
      if (inserts.replace(op, same, null) == Step.DONE && isRecord) {
        leaveRoom(op, op.found(), 0);
      }
    } catch (StoreException e) {
      // The log takes no writes; the next write reports why.
    }
  }
}
