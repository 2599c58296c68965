package io.fasterkv.operation.delta;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.core.Successor;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Puts a record that was made from older ones on top of its chain, unless the key has a newer
 * record since (F2, section 4.1). Everything that moves, copies or merges records goes through
 * here, so that an old value never covers a newer one and a deleted key stays deleted.
 *
 * <p>A search remembers the head of the chain that it began with, and has examined everything below
 * it. {@link #isStillNewest} reads the entry again and examines what was added meanwhile; the
 * compare-and-set that publishes the record expects that very entry. So it fails if anything enters
 * the chain in between. All methods must be called protected. For one session; reusable.
 */
public final class ConditionalInsert {
  private final Engine engine;
  private final HybridLog log;
  private final ChainWalk walk;
  private final NewRecord fresh;
  private final RecordLatch latch;

  public ConditionalInsert(Engine engine, ChainWalk other) {
    this.engine = engine;
    log = engine.log();
    walk = other.another();
    fresh = new NewRecord(engine);
    latch = new RecordLatch(engine.layout());
  }

  /** Begins copies of one record, which are repeated until one succeeds. */
  public void beginOne() {
    fresh.beginOne();
  }

  /**
   * Whether the key has no newer record since the operation's search began. Reads the entry again;
   * the next record is put on top of the chain examined here.
   *
   * <p>A record that was dropped since it was read is not the newest: it may have been moved or
   * deleted, and the entry of its tag freed. A tag that then inherits the same chain as before
   * ({@link io.fasterkv.index.IndexTable}) does not show that.
   */
  public boolean isStillNewest(Operation<?, ?, ?> op) {
    engine.index().findOrCreate(op.hash, op.entry);
    if (op.phase == Phase.FOUND_ON_DISK && op.newestAddress() < log.beginAddress()) {
      return false;
    }
    long newest = op.entry.address();
    if (newest == op.searchedFrom) {
      return true;
    }
    long downTo = Math.max(op.searchedFrom + 1, log.headAddress());
    boolean isReplaced = walk.find(op.key, op.hash, newest, downTo);
    return !isReplaced && walk.address() == op.searchedFrom;
  }

  /**
   * Puts the successor of a record that no thread changes on top of the operation's entry, whose
   * chain the caller has searched down to that record. Returns false if there is no room or the
   * entry has changed.
   */
  <I, O, C> boolean copy(
      Operation<I, O, C> op, Successor<I, O, C> successor, MemorySegment memory, long record) {
    return copy(op, successor, successor.copyBytes(op, memory, record), memory, record);
  }

  /** Like {@link #copy}, when the successor's size is known. */
  public <I, O, C> boolean copy(
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

  /** Like {@link #copy}, for a value outside a record. */
  public boolean copy(Operation<?, ?, ?> op, ByteSpan value) {
    if (!fresh.allocate(op, value.length())) {
      return false;
    }
    engine
        .layout()
        .writeValue(fresh.memory(), fresh.offset(), value.memory(), value.offset(), value.length());
    return fresh.publish(op, false);
  }

  /**
   * Puts a successor of the value that a search has found on top of the chain: an ordinary record,
   * which replaces all deltas below. Returns RETRY if there is no room or the newest delta is in
   * the fuzzy region; RESTART if the value is no longer the newest; LARGE if it does not fit a page
   * and must be written first; DONE.
   *
   * @param large writes values that do not fit a page; null to leave these alone
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
    return engine.layout().recordBytes(op.key.length(), bytes) > log.limits().maxRecordBytes();
  }

  /** Replaces a value whose newest delta was mutable when it was read. */
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
    op.fold.copyNewest(memory, record);
    MemorySegment guess = op.fold.value();
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
    if (!latch.tryHold(op, memory, record)) {
      return false;
    }
    boolean isReplaced = false;
    try {
      MemorySegment whole = op.fold.valueWith(memory, record);
      if (successor.updateCopy(op, whole, 0, fresh.memory(), fresh.offset())
          && fresh.publish(op, false)) {
        op.heldBits = RecordInfo.SEALED;
      }
    } finally {
      isReplaced = latch.release(op, memory);
    }
    return isReplaced;
  }
}
