package io.fasterkv.operation.search;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScannedValue;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over all records of a key, newest first, along its chain through memory and disk;
 * optionally only those below a snapshot's end. Each record is copied, so the epoch is held for one
 * step only. The caller pins the log's begin address, so the walk can continue below the begin
 * address address that others see. One thread at a time.
 */
public final class VersionWalk implements AutoCloseable {
  /** Number of records that are skipped under one protection. */
  private static final int PASSED_AT_ONCE = 1024;

  private final Engine engine;
  private long begin;

  /** Records at or above this address are skipped. */
  private final long end;

  /** Where chains begin below the end. */
  private final ChainHeads heads;

  private final Operation<Void, Void, Void> op;
  private final SessionCounters.Stripe counters;
  private final ChainWalk walk;
  private final DiskSearch disk;
  private final EpochUser user;
  private final ByteSpan value = new ByteSpan();
  private final ScannedValue large;
  private boolean isReturned;
  private @Nullable LargeAnchor anchor;
  private long next;
  private long address;
  private long info;

  public VersionWalk(Engine engine) {
    this(engine, Long.MAX_VALUE);
  }

  /**
   * Creates a walk that returns no record at or above {@code end}. It skips the records appended to
   * a chain only once, as long as scratch memory holds the addresses where chains begin below the
   * end.
   *
   * @param end a tail of the log; every record below it is in its chain, or never will be
   */
  public VersionWalk(Engine engine, long end) {
    this.engine = engine;
    this.end = end;
    heads = new ChainHeads(engine.buffers(), 3 * engine.log().pageBytes());
    user = engine.epochs().register();
    op = Operation.beside(user, engine);
    counters = engine.sessionCounters().open();
    walk = new ChainWalk(engine, counters);
    disk = new DiskSearch(engine, counters);
    large = new ScannedValue(engine.log(), engine.buffers(), user);
  }

  /**
   * Starts at the head of a key's chain.
   *
   * @param pinned the log's begin address, which the user has pinned for the duration of the walk
   */
  public void start(ByteSpan key, long pinned) {
    op.setKey(key);
    startFromIndex(pinned);
  }

  /** Like {@link #start(ByteSpan, long)}, for a {@code long} key. */
  public void start(long key, long pinned) {
    op.setKey(key);
    startFromIndex(pinned);
  }

  /** Moves to the next older record of the key; returns false if there is none. */
  public boolean next() {
    large.release();
    while (next >= begin) {
      if (nextInMemory()) {
        return true;
      }
      if (next >= begin && next < engine.log().pinnedFrom() && nextOnDisk()) {
        return true;
      }
    }
    return false;
  }

  /** Address of the record. */
  public long address() {
    return address;
  }

  public boolean isTombstone() {
    // A large value whose first chunk was dropped has expired or was moved.
    return RecordInfo.isTombstone(info) || (anchor != null && anchor.oldest() < begin);
  }

  public boolean isDelta() {
    return RecordInfo.isDelta(info);
  }

  /**
   * The value that the current record, a delta, and the older ones form; valid until the next
   * start. Moves to the last record that is a part of it.
   */
  public ByteSpan mergedValue() {
    op.fold.open(address, op.diskRecord(), 0);
    while (isDelta() && next() && !isTombstone()) {
      op.fold.addOlder(address, op.diskRecord(), 0, begin);
    }
    LargeAnchor base = op.fold.base();
    if (base != null) {
      large.readMerged(base, op.keySpan, new FoldOnto(op), value);
      return value;
    }
    MemorySegment whole = op.fold.value();
    int bytes = engine.layout().valueBytes(whole, 0);
    return value.wrap(whole, engine.layout().valueOffset(whole, 0), bytes, bytes);
  }

  /** The record's value; valid until the next move. */
  public ByteSpan value() {
    if (anchor != null && !large.isRead() && !isTombstone()) {
      large.read(anchor, op.keySpan, value);
    }
    return value;
  }

  /** Returns the memory of a large value that was read. */
  public void release() {
    large.release();
  }

  @Override
  public void close() {
    user.close();
    returnBuffers();
  }

  /**
   * Returns everything it has borrowed without accessing off-heap memory, for a walk that was never
   * closed.
   */
  public void returnBuffers() {
    if (!isReturned) {
      isReturned = true;
      large.release();
      heads.close();
      engine.sessionCounters().close(counters);
      op.close();
    }
  }

  /** The contents of an operation's fold, to be merged onto a large value. */
  private record FoldOnto(Operation<?, ?, ?> op) implements ScannedValue.Above {
    @Override
    public int bytes(ByteSpan base) {
      return op.fold.bytesOnto(base);
    }

    @Override
    public void merge(ByteSpan base, ByteSpan result) {
      op.fold.mergeOnto(base, result);
    }
  }

  private void startFromIndex(long pinned) {
    begin = pinned;
    op.pinnedBegin = pinned;
    op.hash = engine.hash(op.key);
    next = heads.find(op.hash);
    if (next == ChainHeads.UNKNOWN) {
      enterChain();
      long passed = passNewer();
      heads.note(op.hash, next, passed);
    }
  }

  private void enterChain() {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "the index to be resized");
    while (!enterIndex()) {
      engine.log().assist();
      wait.pause();
    }
    wait.end();
  }

  private boolean enterIndex() {
    user.protect();
    try {
      if (!engine.index().enter(op.hash, op.entry)) {
        return false;
      }
      boolean isFound = engine.index().find(op.hash, op.entry);
      next = isFound ? op.entry.address() : -1;
      return true;
    } finally {
      user.unprotect();
    }
  }

  /**
   * Skips the records at or above the end; returns their number. A record on disk counts as a long
   * walk.
   */
  private long passNewer() {
    long passed = 0;
    while (next >= end) {
      int inMemory = passInMemory();
      passed += inMemory;
      if (inMemory == 0 && next < engine.log().pinnedFrom()) {
        passOnDisk();
        passed += ChainHeads.LONG_WALK;
      }
    }
    return passed;
  }

  private int passInMemory() {
    user.protect();
    try {
      long downTo = Math.max(engine.log().pinnedFrom(), end);
      int passed = walk.pass(op.hash, next, downTo, PASSED_AT_ONCE);
      next = walk.address();
      return passed;
    } finally {
      user.unprotect();
    }
  }

  /** Skips the records up to and including one of the key, or all that are left above the end. */
  private void passOnDisk() {
    op.disk.address = next;
    op.disk.floor = end;
    try {
      disk.searchNow(op);
    } finally {
      op.disk.floor = Address.NONE;
    }
    boolean isOfKey = op.disk.address >= end;
    next =
        isOfKey
            ? RecordInfo.previousAddress(RecordLayout.info(op.diskRecord(), 0))
            : op.disk.address;
  }

  private boolean nextInMemory() {
    HybridLog log = engine.log();
    user.protect();
    try {
      long downTo = Math.max(log.pinnedFrom(), begin);
      if (next < downTo) {
        return false;
      }
      if (!walk.find(op.key, op.hash, next, downTo)) {
        next = walk.address();
        return false;
      }
      copy(log.memory(), log.offset(walk.address()));
      arrive(walk.address());
      return true;
    } finally {
      user.unprotect();
    }
  }

  private void copy(MemorySegment memory, long record) {
    RecordLayout layout = engine.layout();
    long word = RecordLayout.info(memory, record);
    int bytes = (int) layout.recordBytes(memory, record);
    op.diskBuffer(bytes);
    MemorySegment copy = op.setDiskRecord(0, bytes);
    layout.copyConsistently(memory, record, copy, 0);
    Words.storePlain(copy, 0, word);
  }

  private boolean nextOnDisk() {
    op.disk.address = next;
    disk.searchNow(op);
    if (op.phase == Phase.ABSENT_ON_DISK && op.disk.address < begin) {
      next = op.disk.address;
      return false;
    }
    arrive(op.disk.address);
    return true;
  }

  /** Examines the record in the buffer. */
  private void arrive(long at) {
    RecordLayout layout = engine.layout();
    MemorySegment record = op.diskRecord();
    address = at;
    info = RecordLayout.info(record, 0);
    next = RecordInfo.previousAddress(info);
    anchor = null;
    if (RecordInfo.isLarge(info)) {
      anchor = LargeAnchor.read(record, 0);
      if (anchor == null) {
        throw new Corrupt(
            "the anchor of a large value is not what was written: "
                + engine.log().device().place(at));
      }
      value.release();
      return;
    }
    int bytes = layout.valueBytes(record, 0);
    value.wrap(record, layout.valueOffset(record, 0), bytes, bytes);
  }
}
