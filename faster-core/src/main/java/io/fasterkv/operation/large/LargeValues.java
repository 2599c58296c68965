package io.fasterkv.operation.large;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.ChunkCursor;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.operation.core.DeltaFold;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.LargeFunctions;
import io.fasterkv.operation.core.LargeWork;
import io.fasterkv.operation.core.LargeWork.Goal;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.RecordLatch;
import io.fasterkv.operation.core.Step;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Handles values that do not fit a page: chunks in the log, and an anchor in the key's chain. For
 * one session.
 *
 * <p>An attempt of an operation is protected and never touches chunks. When it needs a large value,
 * it says which and ends with {@link Step#LARGE}. {@link #resume} then reads or writes that value
 * without an epoch, a chunk at a time, and the attempt is repeated. It finds the same record as
 * before, and the new value is ready: only the anchor is put into the chain, by the same
 * compare-and-set as any record. An attempt that loses its race is repeated and finds the chunks
 * still there. If the record has been replaced or changed by then, the chunks are written again,
 * and the first ones are dead.
 *
 * <p>So no thread sees an anchor before all of its chunks, which were allocated earlier and are
 * below it: a cut or checkpoint that has the anchor has the chunks.
 *
 * <p>No operation waits for scratch memory while it holds some: if there is none, it returns all of
 * its own and retries. So an operation that has its memory always completes.
 */
public final class LargeValues<I, O, C> {
  /** Half a minute of pauses. */
  private static final int MAX_WAITS = 20_000;

  private final Engine engine;
  private final HybridLog log;
  private final RecordLatch latch;
  private final @Nullable LargeFunctions<I, O, C> functions;
  private final EpochUser user;
  private final EpochWait wait;
  private final boolean isBlocking;

  /**
   * @param functions null for records of longs, which have no large values
   * @param isBlocking whether the calling thread reads chunks from disk
   */
  public LargeValues(
      Engine engine,
      @Nullable LargeFunctions<I, O, C> functions,
      EpochUser user,
      boolean isBlocking) {
    this.engine = engine;
    this.log = engine.log();
    latch = new RecordLatch(engine.layout());
    this.functions = functions;
    this.user = user;
    wait = new EpochWait(engine.epochs(), () -> "room for a chunk, " + engine.log());
    this.isBlocking = isBlocking;
  }

  /** Whether an upsert whose source needs chunks never changes an existing record. */
  public boolean neverFitsInPlace() {
    return functions != null && functions.neverFitsInPlace();
  }

  /** Whether a value needs chunks; throws if the store could not return such a value. */
  public boolean isLarge(Operation<I, O, C> op, int valueBytes) {
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

  /** The anchor in a record that was found; null if its chunks, and so the value, have expired. */
  public @Nullable LargeAnchor anchor(MemorySegment memory, long record, long beginAddress) {
    LargeAnchor anchor = LargeWork.sound(LargeAnchor.read(memory, record));
    // A value that was moved has a newer anchor, since the begin address was read before the index.
    return anchor.oldest() < beginAddress ? null : anchor;
  }

  /** Reads a large value with the deltas above it, which are in the operation's fold. */
  public Step readFold(Operation<I, O, C> op) {
    LargeWork work = work(op);
    work.aim(Goal.READ_FOLD, Address.NONE, 0, 0);
    work.anchor = op.fold.base();
    return Step.LARGE;
  }

  /**
   * Writes the successor of the value in the operation's fold; no thread changes its newest record.
   */
  public Step replaceFold(Operation<I, O, C> op, NewRecord fresh) {
    return isFoldReady(op) ? publish(op, fresh) : Step.LARGE;
  }

  /**
   * Like {@link #replaceFold}, if other threads may be changing the newest delta at {@code record}.
   */
  public Step replaceFoldHeld(Operation<I, O, C> op, long record, NewRecord fresh) {
    return isFoldReady(op) ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Reads the value of an anchor. */
  public Step read(Operation<I, O, C> op, MemorySegment memory, long record, long beginAddress) {
    LargeAnchor anchor = anchor(memory, record, beginAddress);
    if (anchor == null) {
      return op.end(Status.NOT_FOUND);
    }
    LargeWork work = work(op);
    work.aim(Goal.READ, Address.NONE, 0, 0);
    work.anchor = anchor;
    return Step.LARGE;
  }

  /** Puts a value of {@code bytes} without predecessor on top of the chain. */
  public Step put(Operation<I, O, C> op, Goal goal, int bytes, NewRecord fresh) {
    return isReady(op, goal, bytes) ? publish(op, fresh) : Step.LARGE;
  }

  /** Whether a value without predecessor was written; if not, {@link #resume} writes it. */
  public boolean isReady(Operation<I, O, C> op, Goal goal, int bytes) {
    return work(op).aim(goal, Address.NONE, 0, bytes);
  }

  /** Writes the successor of a record that was just copied to the operation's value. */
  public Step replaceSmall(Operation<I, O, C> op, long base, int bytes, NewRecord fresh) {
    boolean isReady = work(op).aim(Goal.COPY_SMALL, base, op.valueState, bytes);
    return isReady ? publish(op, fresh) : Step.LARGE;
  }

  /**
   * Like {@link #replaceSmall}, for a record at {@code record} that other threads may be changing.
   */
  public Step replaceSmallHeld(
      Operation<I, O, C> op, long base, long record, int bytes, NewRecord fresh) {
    boolean isReady = work(op).aim(Goal.COPY_SMALL, base, op.valueState, bytes);
    return isReady ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Writes the successor of a large value. */
  public Step replaceLarge(Operation<I, O, C> op, long base, LargeAnchor anchor, NewRecord fresh) {
    return isSuccessorReady(op, base, anchor) ? publish(op, fresh) : Step.LARGE;
  }

  /** Like {@link #replaceLarge}, for an anchor at {@code record} that may be deleted meanwhile. */
  public Step replaceLargeHeld(
      Operation<I, O, C> op, long base, long record, LargeAnchor anchor, NewRecord fresh) {
    return isSuccessorReady(op, base, anchor) ? publishHeld(op, record, fresh) : Step.LARGE;
  }

  /** Does what an attempt has requested. The caller must not be protected. */
  public Step resume(Operation<I, O, C> op) {
    op.phase = Phase.SEARCH;
    LargeWork work = work(op);
    return switch (work.goal) {
      case READ, READ_FOLD, COPY_LARGE -> readOldValue(op, work);
      case COPY_FOLD -> work.anchor == null ? growFold(op, work) : readOldValue(op, work);
      case UPSERT -> writeSource(op, work);
      case CREATE, COPY_SMALL -> makeNewValue(op, work);
      case NONE -> throw new IllegalStateException("no large value is wanted");
    };
  }

  /** Continues after a chunk was read for a pending operation. */
  public Step arrived(Operation<I, O, C> op) {
    LargeWork work = work(op);
    op.phase = Phase.SEARCH;
    if (op.disk.failure != null) {
      throw work.reader.unreadable(op.disk.failure);
    }
    MemorySegment to = Objects.requireNonNull(work.oldValue);
    work.reader.takeArrived(
        Objects.requireNonNull(work.chunk), (memory, piece) -> copyPiece(memory, piece, to));
    return readOn(op, work);
  }

  private LargeWork work(Operation<I, O, C> op) {
    LargeWork work = op.large;
    if (work == null) {
      work = new LargeWork(engine, op.key, user);
      op.large = work;
    }
    return work;
  }

  /** Maximum length of a value, whether it fits a page or not. */
  public long mostBytes() {
    return Math.max(allowedBytes(), log.limits().maxRecordBytes());
  }

  /** If the store merges deltas, a value must fit beside its successor. */
  private int allowedBytes() {
    BufferPool buffers = engine.buffers();
    return engine.merge() == null ? buffers.largestBytes() : buffers.largestOfTwo();
  }

  /** Whether a value fits one record. */
  public boolean fitsPage(Operation<I, O, C> op, int valueBytes) {
    return engine.layout().recordBytes(op.key.length(), valueBytes)
        <= log.limits().maxRecordBytes();
  }

  private boolean isSuccessorReady(Operation<I, O, C> op, long base, LargeAnchor anchor) {
    LargeWork work = work(op);
    // An anchor does not change; its flags tell whether it was deleted or replaced.
    boolean isReady = work.aim(Goal.COPY_LARGE, base, 0, 0);
    if (!isReady) {
      work.anchor = anchor;
    }
    return isReady;
  }

  private boolean isFoldReady(Operation<I, O, C> op) {
    LargeWork work = work(op);
    DeltaFold fold = op.fold;
    // Everything below the newest delta is immutable, so that delta identifies the whole.
    boolean isReady = work.aim(Goal.COPY_FOLD, fold.newestAddress(), fold.newestState(), 0);
    if (!isReady) {
      work.anchor = fold.base();
    }
    return isReady;
  }

  /** Handles deltas and a value that fit a record each, but whose successor does not. */
  private Step growFold(Operation<I, O, C> op, LargeWork work) {
    MemorySegment whole = op.fold.value();
    int bytes = engine.layout().valueBytes(whole, 0);
    op.value.wrap(whole, engine.layout().valueOffset(whole, 0), bytes, bytes);
    return makeSuccessor(op, work);
  }

  private Step readOldValue(Operation<I, O, C> op, LargeWork work) {
    LargeAnchor anchor = Objects.requireNonNull(work.anchor);
    checkLendable(anchor.bytes(), 1);
    if (!work.takeOldValue(anchor.bytes())) {
      return retry(op, work);
    }
    if (!work.pin(anchor.oldest())) {
      // The value was moved or has expired since it was found.
      work.returnBuffers();
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
        return retry(op, work);
      }
      if (!isBlocking) {
        op.phase = Phase.CHUNKS;
        op.disk.address = cursor.address();
        op.disk.from = work.reader.readFrom();
        return Step.READ_DISK;
      }
      work.reader.takeFromDisk(
          Objects.requireNonNull(work.chunk), (memory, piece) -> copyPiece(memory, piece, to));
    }
    int bytes = Objects.requireNonNull(work.anchor).bytes();
    op.value.wrap(to, 0, bytes, bytes);
    if (work.isFolded() && !mergeFold(op, work)) {
      return retry(op, work);
    }
    if (work.isRead()) {
      functions().readLarge(op);
      return op.end(Status.FOUND);
    }
    return makeSuccessor(op, work);
  }

  /**
   * Replaces the value by the value merged with its deltas; returns false if there is no room for
   * it.
   */
  private boolean mergeFold(Operation<I, O, C> op, LargeWork work) {
    int bytes = op.value.length();
    work.capacity = op.fold.bytesOnto(op.value);
    checkCapacity(op, work.capacity);
    checkLendable(bytes, work.capacity);
    if (!work.takeNewValue()) {
      return false;
    }
    MemorySegment merged = Objects.requireNonNull(work.newValue);
    op.newValue.wrap(merged, 0, 0, work.capacity);
    op.fold.mergeOnto(op.value, op.newValue);
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

  /** Writes an upsert's value: straight from the caller's memory unless a function changes it. */
  private Step writeSource(Operation<I, O, C> op, LargeWork work) {
    ByteSpan source = functions().unchangedSource(op);
    if (source == null) {
      return makeNewValue(op, work);
    }
    work.madeBytes = source.length();
    writeChunks(op, work, source.memory(), source.offset());
    work.isReady = true;
    return Step.RETRY;
  }

  private Step makeNewValue(Operation<I, O, C> op, LargeWork work) {
    if (!work.takeNewValue()) {
      return retry(op, work);
    }
    MemorySegment made = Objects.requireNonNull(work.newValue);
    op.newValue.wrap(made, 0, 0, work.capacity);
    op.recordAddress = Address.NONE;
    switch (work.goal) {
      case UPSERT -> functions().writeLarge(op);
      case CREATE -> functions().updateInitialLarge(op);
      default -> functions().updateCopyLarge(op);
    }
    work.releaseOldValue();
    work.madeBytes = op.newValue.length();
    if (!fitsPage(op, work.madeBytes)) {
      writeChunks(op, work, made, 0);
      work.releaseNewValue();
    }
    work.isReady = true;
    return Step.RETRY;
  }

  private void writeChunks(Operation<I, O, C> op, LargeWork work, MemorySegment source, long from) {
    int keyBytes = op.key.length();
    work.beginUnpublished();
    while (!log.largeWrites().tryBeginChunks(keyBytes, work.madeBytes)) {
      wait.pause();
    }
    wait.end();
    work.writer.begin();
    long oldest = Address.NONE;
    try {
      writeAll(work, source, from);
      oldest = work.writer.anchor().oldest();
    } finally {
      log.largeWrites().endChunks(oldest, keyBytes, work.madeBytes);
    }
    work.made = work.writer.anchor();
  }

  private void writeAll(LargeWork work, MemorySegment source, long from) {
    int done = 0;
    while (done < work.madeBytes) {
      int count;
      user.protect();
      try {
        count = work.writer.writeFirst(source, from + done, work.madeBytes - done, done);
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

  /** Publishes while the base is held, if it is still what the new value was made from. */
  private Step publishHeld(Operation<I, O, C> op, long record, NewRecord fresh) {
    MemorySegment memory = log.memory();
    LargeWork work = work(op);
    if (!allocate(op, fresh) || !latch.tryHold(op, memory, record)) {
      return Step.RETRY;
    }
    boolean isReplaced = false;
    try {
      boolean isFrom = work.goal == Goal.COPY_LARGE || work.isFrom(op.heldState);
      if (isFrom && fill(op, fresh)) {
        op.heldBits = RecordInfo.SEALED;
      }
    } finally {
      isReplaced = latch.release(op, memory);
    }
    return isReplaced ? Step.DONE : Step.RETRY;
  }

  private boolean allocate(Operation<I, O, C> op, NewRecord fresh) {
    LargeWork work = work(op);
    if (work.made != null) {
      boolean isAllocated = fresh.allocate(op, LargeAnchor.VALUE_BYTES);
      op.madeBytes = work.madeBytes;
      return isAllocated;
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
    engine.layout().writeValue(fresh.memory(), fresh.offset(), made, 0, work.madeBytes);
    return fresh.publish(op, 0L);
  }

  /** Returns everything and lets other threads continue; the operation is restarted. */
  private Step retry(Operation<I, O, C> op, LargeWork work) {
    int bytes = Math.max(work.capacity, work.anchor == null ? 0 : work.anchor.bytes());
    work.returnBuffers();
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
