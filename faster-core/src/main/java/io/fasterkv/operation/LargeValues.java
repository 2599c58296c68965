package io.fasterkv.operation;

import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.ChunkCursor;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.operation.LargeWork.Goal;
import io.fasterkv.operation.Operation.Phase;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Values that do not fit a page: chunks in the log, and an anchor in the key's chain. One
 * session's.
 *
 * <p>An attempt at an operation, which is protected, never touches chunks. When it needs a large
 * value it says what, and ends with {@link Step#LARGE}; {@link #goOn} then reads, makes or writes
 * that value with no epoch held, a chunk at a time, and the attempt is made anew. It finds the same
 * record as before, and what was made from it is ready: only the anchor goes into the chain, by the
 * same compare-and-set as any record. An attempt that loses its race is repeated and finds the
 * chunks still there. If the record is another by then, or was changed, they are made again, and
 * what is left of the first ones is dead.
 *
 * <p>So nobody sees an anchor before all of its chunks, which were allocated before it and lie
 * below it: a cut or a checkpoint that has the anchor has the chunks.
 *
 * <p>Nobody waits for scratch memory while holding some: who finds none gives all back and comes
 * again. So whoever has its memory gets to its end.
 */
final class LargeValues<I, O, C> {
  /** Half a minute of pauses. */
  private static final int MAX_WAITS = 20_000;

  private final Engine engine;
  private final HybridLog log;
  private final RecordHold held;
  private final @Nullable LargeFunctions<I, O, C> functions;
  private final EpochUser user;
  private final EpochWait wait;
  private final boolean isBlocking;

  /**
   * @param functions null for records of longs, where no value is large
   * @param isBlocking whether chunks on disk are read by the calling thread
   */
  LargeValues(
      Engine engine,
      @Nullable LargeFunctions<I, O, C> functions,
      EpochUser user,
      boolean isBlocking) {
    this.engine = engine;
    this.log = engine.log();
    held = new RecordHold(engine.layout());
    this.functions = functions;
    this.user = user;
    wait = new EpochWait(engine.epochs(), () -> "room for a chunk, " + engine.log());
    this.isBlocking = isBlocking;
  }

  /** Whether a value needs chunks; refuses one that the store could not give back. */
  boolean isLarge(Operation<I, O, C> op, int valueBytes) {
    if (fitsPage(op, valueBytes)) {
      return false;
    }
    BufferPool buffers = engine.buffers();
    int allowed = allowedBytes();
    if (valueBytes > allowed) {
      String advice =
          valueBytes > StoreConfig.MAX_VALUE_BYTES
              ? "split the value"
              : "raise scratchBytes=" + buffers.bytes() + ", where a reader gets it whole";
      throw new RecordTooLarge(
          "a value is too large: valueBytes="
              + valueBytes
              + ", allowed=up to "
              + allowed
              + "; "
              + advice);
    }
    log.largeWrites().check(op.key.length(), valueBytes);
    return true;
  }

  /** The anchor in a record that was found; null if its chunks have expired, and so has it. */
  @Nullable LargeAnchor anchor(MemorySegment memory, long record, long beginAddress) {
    LargeAnchor anchor = sound(LargeAnchor.read(memory, record));
    // A value that was moved has a newer anchor: the begin was read before the index.
    return anchor.oldest() < beginAddress ? null : anchor;
  }

  /** Refuses an anchor that is not what was written. */
  static LargeAnchor sound(@Nullable LargeAnchor anchor) {
    if (anchor == null) {
      throw new Corrupt(LargeAnchor.UNSOUND);
    }
    return anchor;
  }

  /** Reads a large value with the deltas above it, which are in the operation's fold. */
  Step readFold(Operation<I, O, C> op) {
    LargeWork work = work(op);
    work.aim(Goal.READ_FOLD, Address.NONE, 0, 0);
    work.anchor = op.fold.base();
    return Step.LARGE;
  }

  /** Puts the successor of the value that is in the operation's fold; nobody changes its newest. */
  Step replaceFold(Operation<I, O, C> op, NewRecord fresh) {
    return isFoldReady(op) ? publish(op, fresh) : Step.LARGE;
  }

  /** As {@link #replaceFold}, where others may be changing the newest delta, at {@code record}. */
  Step replaceFoldHeld(Operation<I, O, C> op, long record, NewRecord fresh) {
    return isFoldReady(op) ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Reads the value of an anchor. */
  Step read(Operation<I, O, C> op, MemorySegment memory, long record, long beginAddress) {
    LargeAnchor anchor = anchor(memory, record, beginAddress);
    if (anchor == null) {
      return op.end(Status.NOT_FOUND);
    }
    LargeWork work = work(op);
    work.aim(Goal.READ, Address.NONE, 0, 0);
    work.anchor = anchor;
    return Step.LARGE;
  }

  /** Puts a value of {@code bytes} that has no predecessor on top of the chain. */
  Step put(Operation<I, O, C> op, Goal goal, int bytes, NewRecord fresh) {
    boolean isReady = work(op).aim(goal, Address.NONE, 0, bytes);
    return isReady ? publish(op, fresh) : Step.LARGE;
  }

  /** Puts the successor of a record that was just copied to the operation's value. */
  Step replaceSmall(Operation<I, O, C> op, long base, int bytes, NewRecord fresh) {
    boolean isReady = work(op).aim(Goal.COPY_SMALL, base, op.valueState, bytes);
    return isReady ? publish(op, fresh) : Step.LARGE;
  }

  /** As {@link #replaceSmall}, for a record that others may be changing at {@code record}. */
  Step replaceSmallHeld(Operation<I, O, C> op, long base, long record, int bytes, NewRecord fresh) {
    boolean isReady = work(op).aim(Goal.COPY_SMALL, base, op.valueState, bytes);
    return isReady ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Puts the successor of a large value. */
  Step replaceLarge(Operation<I, O, C> op, long base, LargeAnchor anchor, NewRecord fresh) {
    return isSuccessorReady(op, base, anchor) ? publish(op, fresh) : Step.LARGE;
  }

  /** As {@link #replaceLarge}, for an anchor at {@code record} that may be deleted meanwhile. */
  Step replaceLargeHeld(
      Operation<I, O, C> op, long base, long record, LargeAnchor anchor, NewRecord fresh) {
    return isSuccessorReady(op, base, anchor) ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Does what an attempt has asked for. The caller is not protected. */
  Step goOn(Operation<I, O, C> op) {
    op.phase = Phase.SEARCH;
    LargeWork work = work(op);
    return switch (work.goal) {
      case READ, READ_FOLD, COPY_LARGE -> readOldValue(op, work);
      case COPY_FOLD -> work.anchor == null ? growFold(op, work) : readOldValue(op, work);
      case UPSERT, CREATE, COPY_SMALL -> makeNewValue(op, work);
      case NONE -> throw new IllegalStateException("no large value is wanted");
    };
  }

  /** Goes on when a chunk was read for a pending operation. */
  Step arrived(Operation<I, O, C> op) {
    LargeWork work = work(op);
    op.phase = Phase.SEARCH;
    if (op.diskFailure != null) {
      throw work.reader.unreadable(op.diskFailure);
    }
    MemorySegment to = Objects.requireNonNull(work.oldValue);
    work.reader.takeArrived(
        Objects.requireNonNull(work.chunk), (memory, piece) -> copyPiece(memory, piece, to));
    return readOn(op, work);
  }

  private LargeWork work(Operation<I, O, C> op) {
    LargeWork work = op.large;
    if (work == null) {
      work = new LargeWork(engine, op, user);
      op.large = work;
    }
    return work;
  }

  /** How long a value may be, whether it fits a page or not. */
  long mostBytes() {
    return Math.max(allowedBytes(), log.maxRecordBytes());
  }

  /** Where deltas are merged, a value is read beside the one that it becomes. */
  private int allowedBytes() {
    BufferPool buffers = engine.buffers();
    return engine.merge() == null ? buffers.largestBytes() : buffers.largestOfTwo();
  }

  /** Whether a value lies in one record. */
  boolean fitsPage(Operation<I, O, C> op, int valueBytes) {
    return engine.layout().recordBytes(op.key.length(), valueBytes) <= log.maxRecordBytes();
  }

  private boolean isSuccessorReady(Operation<I, O, C> op, long base, LargeAnchor anchor) {
    LargeWork work = work(op);
    // An anchor does not change; whether it was deleted or replaced is told by its flags.
    boolean isReady = work.aim(Goal.COPY_LARGE, base, 0, 0);
    if (!isReady) {
      work.anchor = anchor;
    }
    return isReady;
  }

  private boolean isFoldReady(Operation<I, O, C> op) {
    LargeWork work = work(op);
    DeltaFold fold = op.fold;
    // What is below the newest delta stands still, so that one stands for all.
    boolean isReady = work.aim(Goal.COPY_FOLD, fold.newestAddress(), fold.newestState(), 0);
    if (!isReady) {
      work.anchor = fold.base();
    }
    return isReady;
  }

  /** Deltas and what they belong to fit a record each, and their successor does not. */
  private Step growFold(Operation<I, O, C> op, LargeWork work) {
    MemorySegment whole = op.fold.value(op);
    int bytes = engine.layout().valueBytes(whole, 0);
    op.value.wrap(whole, engine.layout().valueOffset(whole, 0), bytes, bytes);
    return makeSuccessor(op, work);
  }

  private Step readOldValue(Operation<I, O, C> op, LargeWork work) {
    LargeAnchor anchor = Objects.requireNonNull(work.anchor);
    checkLendable(anchor.bytes(), 1);
    if (!work.takeOldValue(anchor.bytes())) {
      return comeAgain(op, work);
    }
    if (!work.pin(anchor.oldest())) {
      // It was moved or has expired since it was found.
      work.giveBack();
      return Step.RETRY;
    }
    work.reader.cursor().begin(anchor, op.key.memory(), 0, op.key.length());
    return readOn(op, work);
  }

  private Step readOn(Operation<I, O, C> op, LargeWork work) {
    MemorySegment to = Objects.requireNonNull(work.oldValue);
    ChunkCursor cursor = work.reader.cursor();
    work.reader.takeFromMemory((memory, piece) -> copyPiece(memory, piece, to));
    while (!cursor.isAtEnd()) {
      if (!work.takeChunk()) {
        return comeAgain(op, work);
      }
      if (!isBlocking) {
        op.phase = Phase.CHUNKS;
        op.diskAddress = cursor.address();
        op.diskFrom = work.reader.readFrom();
        return Step.READ_DISK;
      }
      work.reader.takeFromDisk(
          Objects.requireNonNull(work.chunk), (memory, piece) -> copyPiece(memory, piece, to));
    }
    int bytes = Objects.requireNonNull(work.anchor).bytes();
    op.value.wrap(to, 0, bytes, bytes);
    if (work.isFolded() && !mergeFold(op, work)) {
      return comeAgain(op, work);
    }
    if (work.isRead()) {
      functions().readLarge(op);
      return op.end(Status.FOUND);
    }
    return makeSuccessor(op, work);
  }

  /** Puts the value with its deltas in the place of the value; false if there is no room for it. */
  private boolean mergeFold(Operation<I, O, C> op, LargeWork work) {
    int bytes = op.value.length();
    work.capacity = op.fold.bytesOnto(op, op.value);
    checkCapacity(op, work.capacity);
    checkLendable(bytes, work.capacity);
    if (!work.takeNewValue()) {
      return false;
    }
    MemorySegment merged = Objects.requireNonNull(work.newValue);
    op.newValue.wrap(merged, 0, 0, work.capacity);
    op.fold.mergeOnto(op, op.value, op.newValue);
    work.newValueIsOld();
    op.value.wrap(merged, 0, op.newValue.length(), op.newValue.length());
    return true;
  }

  private Step makeSuccessor(Operation<I, O, C> op, LargeWork work) {
    work.capacity = functions().copyBytesLarge(op);
    checkCapacity(op, work.capacity);
    checkLendable(op.value.length(), work.capacity);
    return makeNewValue(op, work);
  }

  private static void copyPiece(MemorySegment memory, ChunkCursor piece, MemorySegment to) {
    MemorySegment.copy(memory, piece.pieceOffset(), to, piece.position(), piece.pieceBytes());
  }

  private Step makeNewValue(Operation<I, O, C> op, LargeWork work) {
    if (!work.takeNewValue()) {
      return comeAgain(op, work);
    }
    MemorySegment made = Objects.requireNonNull(work.newValue);
    op.newValue.wrap(made, 0, 0, work.capacity);
    switch (work.goal) {
      case UPSERT -> functions().writeLarge(op);
      case CREATE -> functions().updateInitialLarge(op);
      default -> functions().updateCopyLarge(op);
    }
    work.releaseOldValue();
    work.madeBytes = op.newValue.length();
    if (!fitsPage(op, work.madeBytes)) {
      work.beginUnpublished();
      writeChunks(work, made, op.key.length());
      work.made = work.writer.anchor();
      work.releaseNewValue();
    }
    work.isReady = true;
    return Step.RETRY;
  }

  private void writeChunks(LargeWork work, MemorySegment made, int keyBytes) {
    while (!log.largeWrites().tryBeginChunks(keyBytes, work.madeBytes)) {
      wait.pause();
    }
    wait.end();
    work.writer.begin();
    long oldest = Address.NONE;
    try {
      writeAll(work, made);
      oldest = work.writer.anchor().oldest();
    } finally {
      log.largeWrites().endChunks(oldest, keyBytes, work.madeBytes);
    }
  }

  private void writeAll(LargeWork work, MemorySegment made) {
    int done = 0;
    while (done < work.madeBytes) {
      int count;
      user.protect();
      try {
        count = work.writer.writeFirst(made, done, work.madeBytes - done, done);
        if (count == 0) {
          log.assist();
        }
      } finally {
        user.unprotect();
      }
      done += count;
      if (count == 0) {
        wait.pause();
      } else {
        wait.end();
      }
    }
  }

  private Step publish(Operation<I, O, C> op, NewRecord fresh) {
    return allocate(op, fresh) && fill(op, fresh) ? Step.DONE : Step.RETRY;
  }

  /** Publishes while the base is held, if it still is what the new value was made from. */
  private Step publishHeld(Operation<I, O, C> op, long record, NewRecord fresh) {
    MemorySegment memory = log.memory();
    LargeWork work = work(op);
    if (!allocate(op, fresh) || !held.take(memory, record)) {
      return Step.RETRY;
    }
    long infoBits = 0;
    try {
      boolean isFrom =
          work.goal == Goal.COPY_LARGE || work.isFrom(SpanRecord.heldState(memory, record));
      if (isFrom && fill(op, fresh)) {
        infoBits = RecordInfo.SEALED;
      }
    } finally {
      held.letGo(memory, record, infoBits);
    }
    return infoBits == 0 ? Step.RETRY : Step.DONE;
  }

  private boolean allocate(Operation<I, O, C> op, NewRecord fresh) {
    LargeWork work = work(op);
    if (work.made != null) {
      boolean isThere = fresh.allocate(op, LargeAnchor.VALUE_BYTES);
      op.madeBytes = work.madeBytes;
      return isThere;
    }
    boolean hasRoom = fitsPage(op, work.capacity);
    return fresh.allocate(op, hasRoom ? work.capacity : work.madeBytes);
  }

  private boolean fill(Operation<I, O, C> op, NewRecord fresh) {
    LargeWork work = work(op);
    if (work.made != null) {
      work.made.write(fresh.memory(), fresh.offset());
      return fresh.publish(op, RecordInfo.LARGE);
    }
    MemorySegment made = Objects.requireNonNull(work.newValue);
    RecordLayout layout = engine.layout();
    long to = layout.valueOffset(fresh.memory(), fresh.offset());
    MemorySegment.copy(made, 0, fresh.memory(), to, work.madeBytes);
    layout.setValueBytes(fresh.memory(), fresh.offset(), work.madeBytes);
    return fresh.publish(op, 0L);
  }

  /** Gives everything back and lets others go on; the operation is started again. */
  private Step comeAgain(Operation<I, O, C> op, LargeWork work) {
    int bytes = Math.max(work.capacity, work.anchor == null ? 0 : work.anchor.bytes());
    work.giveBack();
    work.waits++;
    if (work.waits > MAX_WAITS) {
      throw new OutOfBudget(
          "scratch memory for a large value did not come free: bytes="
              + bytes
              + ", scratchBytes="
              + engine.buffers().bytes()
              + "; raise scratchBytes, close scans, or complete pending reads of large values");
    }
    op.phase = Phase.WAITING;
    return Step.WAIT;
  }

  private void checkCapacity(Operation<I, O, C> op, int bytes) {
    if (bytes < 0) {
      throw new RecordTooLarge("a value's size is negative: valueBytes=" + bytes);
    }
    isLarge(op, bytes);
  }

  private void checkLendable(int bytes, int moreBytes) {
    if (!engine.buffers().canLend(bytes, moreBytes)) {
      throw new OutOfBudget(
          "scratch memory does not hold a large value"
              + (moreBytes > 1
                  ? " and its successor: bytes=" + bytes + "+" + moreBytes
                  : ": bytes=" + bytes)
              + ", scratchBytes="
              + engine.buffers().bytes()
              + "; raise scratchBytes");
    }
  }

  private LargeFunctions<I, O, C> functions() {
    return Objects.requireNonNull(functions);
  }
}
