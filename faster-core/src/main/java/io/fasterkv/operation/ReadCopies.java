package io.fasterkv.operation;

import io.fasterkv.api.CopyReads;
import io.fasterkv.api.StoreException;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * What a read leaves at the tail for the next one (SIGMOD'18, appendix D): a copy of a record that
 * it found on disk or in the read-only region, if the session wants that, and the whole value in
 * the place of too many deltas, always. The read is done before; whether the copy succeeds makes no
 * difference to it, and a copy that loses a race is not tried again.
 */
final class ReadCopies<I, O, C> {
  private final HybridLog log;
  private final RecordLayout layout;
  private final ConditionalInsert inserts;
  private final SameValue<I, O, C> same;
  private CopyReads wanted = CopyReads.NEVER;

  ReadCopies(Engine engine, ChainWalk walk) {
    log = engine.log();
    inserts = new ConditionalInsert(engine, walk);
    layout = engine.layout();
    same = new SameValue<>(layout);
  }

  void set(CopyReads copyReads) {
    // Without a device all is in memory, and what is read-only is about to be moved anyway.
    wanted = log.isInMemory() ? CopyReads.NEVER : copyReads;
  }

  /** Whether records in the read-only region are copied. */
  boolean takesFromMemory() {
    return wanted == CopyReads.FROM_DISK_AND_READ_ONLY;
  }

  /** The operation has read a record, or a fold, that was found on disk. */
  void afterDisk(Operation<I, O, C> op) {
    if (!op.version.isPlain()) {
      return;
    }
    boolean isWanted = wanted != CopyReads.NEVER && op.diskAddress >= log.beginAddress();
    if (isWanted || isTooLong(op)) {
      tryReplace(op);
    }
  }

  /** The operation has read a value that was gathered in memory. */
  void afterGathering(Operation<I, O, C> op) {
    if (isTooLong(op) && op.version.isPlain()) {
      op.searchedFrom = op.entry.address();
      tryReplace(op);
    }
  }

  /** The operation has read a stable record in memory, in the chain of its entry. */
  void afterReadOnly(Operation<I, O, C> op, MemorySegment memory, long record) {
    if (!op.version.isPlain()) {
      return;
    }
    try {
      if (inserts.copy(op, same, memory, record)) {
        leaveRoom(op, memory, record);
      }
    } catch (StoreException e) {
      // The log takes no writes; the next write says why.
    }
  }

  /** The room behind the value was not copied with it. */
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
      // The log takes no writes; the next write says why.
    }
  }
}
