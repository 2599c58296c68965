package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Puts a record that was made from older ones on top of its chain, only if no newer record of the
 * key has got there since (F2, section 4.1). What moves, copies or merges records comes through
 * here, so that an old value never covers a newer one and a deleted key stays deleted.
 *
 * <p>A search notes the head of the chain it began with and has looked at all below it. {@link
 * #isStillNewest} reads the entry anew and looks at what came on top meanwhile; the compare-and-set
 * that publishes the record expects that very entry. Whatever gets into the chain in between makes
 * it fail. All methods are called protected. One session's; used over and over.
 */
final class ConditionalInsert {
  private final Engine engine;
  private final HybridLog log;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final RecordHold held;

  ConditionalInsert(Engine engine, ChainWalk other) {
    this.engine = engine;
    log = engine.log();
    walk = other.another();
    fresh = new NewRecord(engine);
    held = new RecordHold(engine.layout());
  }

  /** Tells that the copies that follow are of one record, until they succeed. */
  void beginOne() {
    fresh.beginOne();
  }

  /**
   * Whether the key has got no record since the operation's search began. Takes the entry anew: the
   * record that follows is put on top of what was looked at here.
   */
  boolean isStillNewest(Operation<?, ?, ?> op) {
    engine.index().findOrCreate(op.hash, op.entry);
    long newest = op.entry.address();
    if (newest == op.searchedFrom) {
      return true;
    }
    long downTo = Math.max(op.searchedFrom + 1, log.headAddress());
    boolean isReplaced = walk.find(op.key, op.hash, newest, downTo);
    return !isReplaced && walk.address() == op.searchedFrom;
  }

  /**
   * Puts the successor of a record that nobody changes on top of the operation's entry, whose chain
   * the caller has looked through down to that record; false if there is no room or the entry has
   * changed.
   */
  <I, O, C> boolean copy(
      Operation<I, O, C> op, Successor<I, O, C> successor, MemorySegment memory, long record) {
    return copy(op, successor, successor.copyBytes(op, memory, record), memory, record);
  }

  /** As {@link #copy}, when the successor's size is known. */
  <I, O, C> boolean copy(
      Operation<I, O, C> op,
      Successor<I, O, C> successor,
      int bytes,
      MemorySegment memory,
      long record) {
    if (!fresh.allocate(op, bytes)) {
      return false;
    }
    successor.writeCopy(op, memory, record, fresh.memory(), fresh.offset());
    return fresh.publish(op, false);
  }

  /** As {@link #copy}, of a value by itself. */
  boolean copy(Operation<?, ?, ?> op, ByteSpan value) {
    if (!fresh.allocate(op, value.length())) {
      return false;
    }
    RecordLayout layout = engine.layout();
    MemorySegment to = fresh.memory();
    long record = fresh.offset();
    MemorySegment.copy(
        value.memory(), value.offset(), to, layout.valueOffset(to, record), value.length());
    layout.setValueBytes(to, record, value.length());
    return fresh.publish(op, false);
  }

  /**
   * Puts a successor of the value that a search has found on top of the chain: an ordinary record,
   * which takes the place of all deltas below. RETRY if there is no room or the newest delta is in
   * the fuzzy region; RESTART if the value is not the newest any more; LARGE if it does not fit a
   * page and is to be made first; DONE.
   *
   * @param large what makes values that do not fit a page; null to let these be
   */
  <I, O, C> Step replace(
      Operation<I, O, C> op, Successor<I, O, C> successor, @Nullable LargeValues<I, O, C> large) {
    if (!isStillNewest(op)) {
      return Step.RESTART;
    }
    if (op.fold.isOpen() && op.fold.isNewestApart()) {
      return replaceMutable(op, successor, large);
    }
    if (op.fold.base() != null) {
      return large == null ? Step.RETRY : large.replaceFold(op, fresh);
    }
    int bytes = successor.copyBytes(op, op.found(), 0);
    if (op.fold.isOpen() && isTooLarge(op, bytes)) {
      return large == null || !large.isLarge(op, bytes) ? Step.RETRY : large.replaceFold(op, fresh);
    }
    return copy(op, successor, bytes, op.found(), 0) ? Step.DONE : Step.RETRY;
  }

  private boolean isTooLarge(Operation<?, ?, ?> op, int bytes) {
    return engine.layout().recordBytes(op.key.length(), bytes) > log.maxRecordBytes();
  }

  /** The newest delta was mutable when it was read. */
  private <I, O, C> Step replaceMutable(
      Operation<I, O, C> op, Successor<I, O, C> successor, @Nullable LargeValues<I, O, C> large) {
    long newest = op.fold.newestAddress();
    if (newest < log.headAddress()) {
      return Step.RESTART;
    }
    MemorySegment memory = log.memory();
    long record = log.offset(newest);
    long info = RecordLayout.info(memory, record);
    if (RecordInfo.isTombstone(info)) {
      return Step.RESTART;
    }
    boolean isOld = op.version.isOld(newest, info);
    boolean mayBeChanging = !isOld || op.version.mustWaitForOld();
    boolean isMutable = newest >= log.regions().inPlaceFrom() && !isOld;
    if (!isMutable && newest >= log.regions().copyBelow() && mayBeChanging) {
      return Step.RETRY;
    }
    op.fold.copyNewest(op, memory, record);
    MemorySegment guess = op.fold.value(op);
    int bytes = op.fold.base() == null ? successor.copyBytes(op, guess, 0) : 0;
    if (op.fold.base() != null || isTooLarge(op, bytes)) {
      if (large == null || (op.fold.base() == null && !large.isLarge(op, bytes))) {
        return Step.RETRY;
      }
      return isMutable ? large.replaceFoldHeld(op, record, fresh) : large.replaceFold(op, fresh);
    }
    if (!fresh.allocate(op, bytes)) {
      return Step.RETRY;
    }
    if (!isMutable) {
      successor.writeCopy(op, guess, 0, fresh.memory(), fresh.offset());
      return fresh.publish(op, false) ? Step.DONE : Step.RETRY;
    }
    return replaceHeld(op, successor, memory, record) ? Step.DONE : Step.RETRY;
  }

  private <I, O, C> boolean replaceHeld(
      Operation<I, O, C> op, Successor<I, O, C> successor, MemorySegment memory, long record) {
    if (!held.take(memory, record)) {
      return false;
    }
    long infoBits = 0;
    try {
      MemorySegment whole = op.fold.valueWith(op, memory, record);
      if (successor.updateCopy(op, whole, 0, fresh.memory(), fresh.offset())
          && fresh.publish(op, false)) {
        infoBits = RecordInfo.SEALED;
      }
    } finally {
      held.letGo(memory, record, infoBits);
    }
    return infoBits != 0;
  }
}
