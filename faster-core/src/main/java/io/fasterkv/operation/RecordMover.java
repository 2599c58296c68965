package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Operation.Phase;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Copies records that are still live from the head of the log to its tail (SIGMOD'18, appendix C;
 * F2, section 4.1: conditional insert).
 *
 * <p>A record is live if its chain leads to it and no newer record has its key. That is looked up
 * from the index down to the record's address, in memory and on disk; or only down to an address
 * below which a scan has seen that there is none. The copy goes on top of the entry that this walk
 * began with, so whatever is written to the chain in the meantime makes the copy fail, and the walk
 * starts over. One thread at a time.
 */
public final class RecordMover implements AutoCloseable {
  private final Engine engine;
  private final Operation<Void, Void, Void> op;
  private final ChainSteps.Stripe steps;
  private final ChainWalk walk;
  private final DiskSearch disk;
  private final NewRecord fresh;
  private final EpochUser user;
  private final EpochWait wait;

  public RecordMover(Engine engine) {
    this.engine = engine;
    op = new Operation<>(engine);
    steps = engine.chainSteps().open();
    walk = new ChainWalk(engine, steps);
    disk = new DiskSearch(engine, steps);
    fresh = new NewRecord(engine);
    user = engine.epochs().register();
    wait = new EpochWait(engine.epochs(), () -> "room to move a record to");
  }

  /**
   * Moves the record at {@code address}, which is immutable, if it is live. Returns whether it was.
   *
   * @param newerFrom nothing newer with the key lies below it: {@code address + 1}, or an address
   *     up to which all has been looked at, for a record that a chain leads to
   */
  public boolean moveIfLive(long address, ByteSpan key, ByteSpan value, long newerFrom) {
    op.setKey(key);
    op.hash = engine.hash(op.key);
    op.diskFloor = newerFrom;
    op.phase = Phase.SEARCH;
    wait.end();
    while (true) {
      switch (attempt(address, value)) {
        case MOVED -> {
          return true;
        }
        case DEAD -> {
          return false;
        }
        case ON_DISK -> {
          disk.searchNow(op);
          if (op.phase == Phase.FOUND_ON_DISK || isReplacedByTombstone()) {
            return false;
          }
        }
        case AGAIN -> {
          engine.log().assist();
          wait.pause();
        }
      }
    }
  }

  @Override
  public void close() {
    user.close();
    engine.chainSteps().close(steps);
    op.close();
  }

  private enum Outcome {
    MOVED,
    DEAD,
    /** The walk left memory above the record's address. */
    ON_DISK,
    AGAIN
  }

  private Outcome attempt(long address, ByteSpan value) {
    user.protect();
    try {
      HybridLog log = engine.log();
      if (!engine.index().enter(op.hash, op.entry)) {
        return Outcome.AGAIN;
      }
      if (!engine.index().find(op.hash, op.entry)) {
        return Outcome.DEAD;
      }
      long newest = op.entry.address();
      boolean isVerified = op.phase == Phase.ABSENT_ON_DISK && newest == op.searchedFrom;
      if (!isVerified) {
        op.phase = Phase.SEARCH;
        if (walk.find(op.key, op.hash, newest, Math.max(log.headAddress(), op.diskFloor))) {
          return Outcome.DEAD;
        }
        if (walk.address() >= op.diskFloor) {
          op.readDisk(walk.address(), log.beginAddress());
          return Outcome.ON_DISK;
        }
      }
      if (!leadsTo(address, isVerified ? op.diskAddress : walk.address())) {
        return Outcome.DEAD;
      }
      return copy(value) ? Outcome.MOVED : Outcome.AGAIN;
    } finally {
      user.unprotect();
    }
  }

  private boolean copy(ByteSpan value) {
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
   * Whether a walk through all that was to be looked at, and on to {@code next}, has the record.
   */
  private boolean leadsTo(long address, long next) {
    boolean isWholeWalk = op.diskFloor == address + 1;
    return isWholeWalk ? next == address : next >= address;
  }

  /** Whether the search on disk ended at a record with the key, where it was looked for. */
  private boolean isReplacedByTombstone() {
    return op.phase == Phase.ABSENT_ON_DISK && op.diskAddress >= op.diskFloor;
  }
}
