package io.fasterkv.operation.move;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.log.UpcomingKeys;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.delta.ConditionalInsert;
import io.fasterkv.operation.delta.KeyCollapse;
import io.fasterkv.operation.fastpath.Prefetcher;
import io.fasterkv.operation.large.LargeValues;
import io.fasterkv.operation.large.SameLargeValue;
import io.fasterkv.operation.move.NewestSearch.Found;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies live records from the head of the log to its tail (SIGMOD'18, appendix C; F2, section 4.1:
 * conditional insert).
 *
 * <p>A record is live if its chain leads to it and no newer record has its key. The lookup goes
 * from the index down to the record's address, in memory and on disk; or only down to an address
 * below which a scan has seen no newer record. The copy is put on top of the entry that this walk
 * began with, so anything written to the chain in the meantime makes the copy fail, and the walk
 * restarts. One thread at a time.
 */
public final class RecordMover implements AutoCloseable {
  /** Maximum number of keys that are prefetched together. */
  public static final int GROUP = Prefetcher.GROUP;

  private final Engine engine;
  private final NewestSearch search;
  private final Operation<Void, Void, Void> op;
  private final Prefetcher prefetcher;
  private final ConditionalInsert inserts;
  private final KeyCollapse collapse;
  private final LargeValues<Void, Void, Void> large;
  private final EpochUser user;
  private final EpochWait wait;
  private final @Nullable KeepQuestion rule;
  private long largeBytes;
  private int trimmedBytes;
  private boolean isDropped;
  private boolean isFold;

  /**
   * @param rule decides which live records are kept; null keeps all. The caller closes it
   */
  public RecordMover(Engine engine, @Nullable KeepQuestion rule) {
    this.engine = engine;
    this.rule = rule;
    search = new NewestSearch(engine);
    op = search.op();
    user = search.user();
    prefetcher = new Prefetcher(engine);
    inserts = new ConditionalInsert(engine, search.walk());
    large = new LargeValues<>(engine, new SameLargeValue(), user, true);
    collapse = new KeyCollapse(engine, search.walk(), large);
    wait = new EpochWait(engine.epochs(), () -> "room to move a record to");
  }

  /** Prefetches the heads of the chains of keys that will be looked up next. */
  public void prefetch(UpcomingKeys keys) {
    // The buffer is idle between two records, and another one might not be available.
    MemorySegment idle = op.valueBuffer(Prefetcher.KEY_BYTES);
    prefetcher.prefetchHeads(keys.keys(), keys.count(), user, idle);
  }

  /**
   * Moves the record at {@code address}, which must be immutable, if it is live. Returns whether it
   * was.
   *
   * @param newerFrom no newer record with the key is below this address: {@code address + 1}, or
   *     for a record that a chain leads to, an address up to which everything has been examined
   * @param isDelta whether the record is a delta; it is moved together with the rest of its value
   */
  public boolean moveIfLive(
      long address, ByteSpan key, ByteSpan value, long newerFrom, boolean isDelta) {
    search.setKey(key);
    inserts.beginOne();
    largeBytes = 0;
    trimmedBytes = 0;
    isDropped = false;
    isFold = false;
    return isDelta ? collapse(address) : move(address, key, value, newerFrom);
  }

  /** What can be said about a record without moving it. */
  public enum RecordState {
    LIVE,
    /** It was replaced or deleted, or need not be kept. */
    DEAD,
    /** The newest record of the key is a delta; the record may be a part of the value. */
    UNDER_DELTAS
  }

  /** Examines the record at {@code address}, which must be immutable and not a delta. */
  public RecordState findState(long address, ByteSpan key, ByteSpan value) {
    search.setKey(key);
    aim(address + 1);
    return switch (settle(address, value, Verdict.OPEN)) {
      case LIVE -> judge(key, value) == Verdict.KEEPS ? RecordState.LIVE : RecordState.DEAD;
      case UNDER_DELTAS -> RecordState.UNDER_DELTAS;
      default -> RecordState.DEAD;
    };
  }

  private boolean move(long address, ByteSpan key, ByteSpan value, long newerFrom) {
    aim(newerFrom);
    boolean isKept = rule == null || rule.keepsAll();
    Outcome outcome = settle(address, value, isKept ? Verdict.KEEPS : Verdict.OPEN);
    if (outcome == Outcome.LIVE) {
      Verdict verdict = judge(key, value);
      ByteSpan needed = verdict == Verdict.KEEPS ? needed(key, value) : value;
      outcome = settle(address, needed, verdict);
      trimmedBytes = outcome == Outcome.MOVED ? value.length() - needed.length() : 0;
    }
    isDropped = outcome == Outcome.DROPPED;
    return outcome == Outcome.UNDER_DELTAS ? collapse(address) : outcome == Outcome.MOVED;
  }

  /** Begins a search down to {@code newerFrom}. */
  private void aim(long newerFrom) {
    search.aim(newerFrom);
    wait.end();
  }

  /** Continues until the outcome is final. */
  private Outcome settle(long address, ByteSpan value, Verdict verdict) {
    while (true) {
      Outcome outcome = attempt(address, value, verdict);
      if (outcome == Outcome.AGAIN) {
        pause();
      } else if (outcome != Outcome.ON_DISK) {
        return outcome;
      } else {
        Found found = search.onDisk();
        // Otherwise the next attempt moves the record, or searches again.
        if (found != Found.NOTHING && found != Found.AGAIN) {
          return newer(found);
        }
      }
    }
  }

  /** The outcome for a record if the search has not ended, or has found a newer one. */
  private static Outcome newer(Found found) {
    return switch (found) {
      case ON_DISK -> Outcome.ON_DISK;
      case NOTHING, AGAIN -> Outcome.AGAIN;
      case DELTA -> Outcome.UNDER_DELTAS;
      case RECORD, TOMBSTONE -> Outcome.DEAD;
    };
  }

  /** Asks the rule, without an epoch, since the rule may read from disk. */
  private Verdict judge(ByteSpan key, ByteSpan value) {
    return rule == null || rule.keeps(key, value) ? Verdict.KEEPS : Verdict.DROPS;
  }

  private ByteSpan needed(ByteSpan key, ByteSpan value) {
    return rule == null ? value : rule.trimmed(key, value);
  }

  /** Counts the spare capacity of a record, which was not copied. */
  public void leftRoomBehind(long bytes) {
    search.counters().ended(bytes);
  }

  /** Bytes of the last value that need not be kept and were not copied. */
  public int trimmedBytes() {
    return trimmedBytes;
  }

  /** Whether the last record moved was merged from deltas and their base. */
  public boolean isFold() {
    return isFold;
  }

  /** Whether the last record is live and need not be kept. */
  public boolean isDropped() {
    return isDropped;
  }

  /** Length of the last value moved if it did not fit a page; otherwise 0. */
  public long largeBytes() {
    return largeBytes;
  }

  /**
   * Moves the value of a key, with the deltas above it, if the record or first chunk at {@code
   * address} is a part of it.
   */
  public boolean moveFold(long address, ByteSpan key) {
    isDropped = false;
    search.setKey(key);
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
        case ON_DISK -> search.onDisk();
        case LARGE -> {
          wait.end();
          if (large.resume(op) == Step.WAIT) {
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
      return engine.versions().enterMove(op.version) && engine.index().enter(op.hash, op.entry)
          ? collapse.attempt(op, address)
          : KeyCollapse.Outcome.AGAIN;
    } finally {
      user.unprotect();
    }
  }

  private void pause() {
    engine.log().assist();
    if (!engine.log().room().writeForRoom()) {
      wait.pause();
    }
  }

  @Override
  public void close() {
    search.close();
  }

  private enum Outcome {
    MOVED,
    DEAD,
    /** It is live; the rule has not decided yet. */
    LIVE,
    /** It is live and need not be kept. */
    DROPPED,
    /** The walk continues on disk above the record's address. */
    ON_DISK,
    /** The newest record of the key is a delta. */
    UNDER_DELTAS,
    AGAIN
  }

  /** What the rule says about a record. */
  private enum Verdict {
    OPEN,
    KEEPS,
    DROPS
  }

  private Outcome attempt(long address, ByteSpan value, Verdict verdict) {
    user.protect();
    try {
      if (!engine.versions().enterMove(op.version)) {
        return Outcome.AGAIN;
      }
      Found found = search.inMemory();
      if (found != Found.NOTHING) {
        return newer(found);
      }
      if (!leadsTo(address, search.next())) {
        return Outcome.DEAD;
      }
      return switch (verdict) {
        case OPEN -> Outcome.LIVE;
        case DROPS -> Outcome.DROPPED;
        case KEEPS -> inserts.copy(op, value) ? Outcome.MOVED : Outcome.AGAIN;
      };
    } finally {
      user.unprotect();
    }
  }

  /**
   * Whether a walk that has examined everything above, and continues at {@code next}, leads to the
   * record.
   */
  private boolean leadsTo(long address, long next) {
    boolean isWholeWalk = op.disk.floor == address + 1;
    return isWholeWalk ? next == address : next >= address;
  }
}
