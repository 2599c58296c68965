package io.fasterkv.operation;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.UpcomingKeys;
import io.fasterkv.operation.Operation.Phase;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

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
  /** How many keys are touched together, at most. */
  public static final int GROUP = GroupTouch.GROUP;

  private final Engine engine;
  private final Operation<Void, Void, Void> op;
  private final ChainSteps.Stripe steps;
  private final ChainWalk walk;
  private final DiskSearch disk;
  private final GroupTouch touch;
  private final ConditionalInsert inserts;
  private final KeyCollapse collapse;
  private final LargeValues<Void, Void, Void> large;
  private final EpochUser user;
  private final EpochWait wait;
  private final @Nullable KeepQuestion rule;
  private long largeBytes;
  private int trimmedBytes;
  private boolean isLetGo;
  private boolean isFold;

  /**
   * @param rule asked about what is live; null if all of that moves. Closed by the caller
   */
  public RecordMover(Engine engine, @Nullable KeepQuestion rule) {
    this.engine = engine;
    this.rule = rule;
    user = engine.epochs().register();
    op = Operation.beside(user, engine);
    steps = engine.chainSteps().open();
    walk = new ChainWalk(engine, steps);
    disk = new DiskSearch(engine, steps);
    touch = new GroupTouch(engine);
    inserts = new ConditionalInsert(engine, walk);
    large = new LargeValues<>(engine, new SameLargeValue(), user, true);
    collapse = new KeyCollapse(engine, walk, large);
    wait = new EpochWait(engine.epochs(), () -> "room to move a record to");
  }

  /** Brings into the cache where the chains of keys begin that are about to be looked at. */
  public void touch(UpcomingKeys keys) {
    // Between two records nobody else uses it, and another buffer might not be had.
    MemorySegment idle = op.valueBuffer(GroupTouch.KEY_BYTES);
    touch.touchHeads(keys.keys(), keys.count(), user, idle);
  }

  /**
   * Moves the record at {@code address}, which is immutable, if it is live. Returns whether it was.
   *
   * @param newerFrom nothing newer with the key lies below it: {@code address + 1}, or an address
   *     up to which all has been looked at, for a record that a chain leads to
   * @param isDelta whether the record is a delta; it moves together with what it belongs to
   */
  public boolean moveIfLive(
      long address, ByteSpan key, ByteSpan value, long newerFrom, boolean isDelta) {
    op.setKey(key);
    op.hash = engine.hash(op.key);
    inserts.beginOne();
    largeBytes = 0;
    trimmedBytes = 0;
    isLetGo = false;
    isFold = false;
    return isDelta ? collapse(address) : move(address, key, value, newerFrom);
  }

  /** What can be told of a record without moving anything. */
  public enum Look {
    LIVE,
    /** Replaced or deleted; or it need not be kept. */
    DEAD,
    /** The newest record of the key is a delta; what lies under it may be a part of the value. */
    UNDER_DELTAS
  }

  /** Looks at the record at {@code address}, which is immutable and no delta. */
  public Look look(long address, ByteSpan key, ByteSpan value) {
    op.setKey(key);
    op.hash = engine.hash(op.key);
    aim(address + 1);
    return switch (settle(address, value, Verdict.OPEN)) {
      case LIVE -> judge(key, value) == Verdict.STAYS ? Look.LIVE : Look.DEAD;
      case UNDER_DELTAS -> Look.UNDER_DELTAS;
      default -> Look.DEAD;
    };
  }

  private boolean move(long address, ByteSpan key, ByteSpan value, long newerFrom) {
    aim(newerFrom);
    boolean isKept = rule == null || rule.keepsAll();
    Outcome outcome = settle(address, value, isKept ? Verdict.STAYS : Verdict.OPEN);
    if (outcome == Outcome.LIVE) {
      Verdict verdict = judge(key, value);
      ByteSpan needed = verdict == Verdict.STAYS ? needed(key, value) : value;
      outcome = settle(address, needed, verdict);
      trimmedBytes = outcome == Outcome.MOVED ? value.length() - needed.length() : 0;
    }
    isLetGo = outcome == Outcome.LET_GO;
    return outcome == Outcome.UNDER_DELTAS ? collapse(address) : outcome == Outcome.MOVED;
  }

  /** Begins a search down to {@code newerFrom}. */
  private void aim(long newerFrom) {
    op.diskFloor = newerFrom;
    op.phase = Phase.SEARCH;
    wait.end();
  }

  /** Goes on until the outcome is none that asks to go on. */
  private Outcome settle(long address, ByteSpan value, Verdict verdict) {
    while (true) {
      Outcome outcome = attempt(address, value, verdict);
      if (outcome == Outcome.AGAIN) {
        pause();
      } else if (outcome != Outcome.ON_DISK) {
        return outcome;
      } else {
        disk.searchNow(op);
        if (op.fold.isOpen()) {
          return Outcome.UNDER_DELTAS;
        }
        if (op.phase == Phase.FOUND_ON_DISK || isReplacedByTombstone()) {
          return Outcome.DEAD;
        }
      }
    }
  }

  /** With no epoch held, since the rule may have the disk read. */
  private Verdict judge(ByteSpan key, ByteSpan value) {
    return rule == null || rule.keeps(key, value) ? Verdict.STAYS : Verdict.GOES;
  }

  private ByteSpan needed(ByteSpan key, ByteSpan value) {
    return rule == null ? value : rule.trimmed(key, value);
  }

  /** Notes that a record had room behind its value, which was not copied with it. */
  public void leftRoomBehind(long bytes) {
    steps.ended(bytes);
  }

  /** How many bytes of the value looked at last need not be kept, and were not copied with it. */
  public int trimmedBytes() {
    return trimmedBytes;
  }

  /** Whether what was moved last was put together from deltas and what they belong to. */
  public boolean isFold() {
    return isFold;
  }

  /** Whether the record looked at last is live, and need not be kept. */
  public boolean isLetGo() {
    return isLetGo;
  }

  /** How many bytes of a value that did not fit a page were moved last; 0 if there was none. */
  public long largeBytes() {
    return largeBytes;
  }

  /**
   * Moves the value of a key that a record or a first chunk at {@code address} may be a part of,
   * with the deltas above it.
   */
  public boolean moveFold(long address, ByteSpan key) {
    isLetGo = false;
    op.setKey(key);
    op.hash = engine.hash(op.key);
    return collapse(address);
  }

  private boolean collapse(long address) {
    try {
      isFold = collapseAll(address);
      largeBytes = isFold && op.large != null ? op.large.madeBytes : 0;
      return isFold;
    } catch (RecordTooLarge e) {
      throw new RecordTooLarge(
          "a value with its deltas cannot be compacted: address="
              + address
              + "; upsert or delete its key: "
              + e.getMessage());
    } finally {
      if (op.large != null) {
        op.large.release();
      }
    }
  }

  private boolean collapseAll(long address) {
    op.phase = Phase.SEARCH;
    wait.end();
    while (true) {
      switch (collapseOnce(address)) {
        case REPLACED -> {
          return true;
        }
        case DEAD -> {
          return false;
        }
        case ON_DISK -> disk.searchNow(op);
        case LARGE -> {
          wait.end();
          if (large.goOn(op) == Step.WAIT) {
            pause();
          }
          op.phase = Phase.SEARCH;
        }
        case AGAIN -> pause();
      }
    }
  }

  private KeyCollapse.Outcome collapseOnce(long address) {
    user.protect();
    try {
      return engine.versions().enterMove(op) && engine.index().enter(op.hash, op.entry)
          ? collapse.attempt(op, address)
          : KeyCollapse.Outcome.AGAIN;
    } finally {
      user.unprotect();
    }
  }

  private void pause() {
    engine.log().assist();
    if (!engine.log().writeForRoom()) {
      wait.pause();
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
    /** It is live; whether it is to be kept is open. */
    LIVE,
    /** It is live, and need not be kept. */
    LET_GO,
    /** The walk left memory above the record's address. */
    ON_DISK,
    /** The newest record of the key is a delta. */
    UNDER_DELTAS,
    AGAIN
  }

  /** What the rule says of a record. */
  private enum Verdict {
    OPEN,
    STAYS,
    GOES
  }

  private Outcome attempt(long address, ByteSpan value, Verdict verdict) {
    user.protect();
    try {
      HybridLog log = engine.log();
      if (!engine.versions().enterMove(op) || !engine.index().enter(op.hash, op.entry)) {
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
          return walk.isDelta() ? Outcome.UNDER_DELTAS : Outcome.DEAD;
        }
        if (walk.address() >= op.diskFloor) {
          if (walk.address() < log.beginAddress()) {
            // Dropped, and so is the record below it: for who looks at what it does not drop
            // itself.
            return Outcome.DEAD;
          }
          op.readDisk(walk.address(), log.beginAddress());
          return Outcome.ON_DISK;
        }
      }
      if (!leadsTo(address, isVerified ? op.diskAddress : walk.address())) {
        return Outcome.DEAD;
      }
      return switch (verdict) {
        case OPEN -> Outcome.LIVE;
        case GOES -> Outcome.LET_GO;
        case STAYS -> inserts.copy(op, value) ? Outcome.MOVED : Outcome.AGAIN;
      };
    } finally {
      user.unprotect();
    }
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
