package io.fasterkv.operation.move;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.operation.search.DiskSearch;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;

/**
 * Finds the newest record of a key at or above an address, the floor, in memory and then on disk.
 * Owns the operation and the epoch user of a mover. One thread at a time.
 */
final class NewestSearch implements AutoCloseable {
  /** The result of one step of a search. */
  enum Found {
    /** The key has no record at or above the floor; {@link #next()} tells where its chain goes. */
    NOTHING,
    /** A value. */
    RECORD,
    TOMBSTONE,
    DELTA,
    /** The search continues on disk: {@link #onDisk()} is next, without protection. */
    ON_DISK,
    /**
     * The index is being resized, or the log's begin address has passed what was read: search
     * again.
     */
    AGAIN
  }

  private final Engine engine;
  private final EpochUser user;
  private final Operation<Void, Void, Void> op;
  private final SessionCounters.Stripe counters;
  private final ChainWalk walk;
  private final DiskSearch disk;
  private long next;

  NewestSearch(Engine engine) {
    this.engine = engine;
    user = engine.epochs().register();
    op = Operation.beside(user, engine);
    counters = engine.sessionCounters().open();
    walk = new ChainWalk(engine, counters);
    disk = new DiskSearch(engine, counters);
  }

  EpochUser user() {
    return user;
  }

  Operation<Void, Void, Void> op() {
    return op;
  }

  SessionCounters.Stripe counters() {
    return counters;
  }

  /** The walk in memory, which has ended at the record that it found. */
  ChainWalk walk() {
    return walk;
  }

  /**
   * The address where the chain continues below the floor; {@link Address#NONE} if it has ended.
   */
  long next() {
    return next;
  }

  /** Sets the key of the next searches. */
  void setKey(ByteSpan key) {
    op.setKey(key);
    op.hash = engine.hash(op.key);
  }

  /** Begins a search for records at or above {@code floor}. */
  void aim(long floor) {
    op.disk.floor = floor;
    op.phase = Phase.SEARCH;
  }

  /**
   * Searches in memory, from the index on. If a search on disk has just found nothing and nothing
   * was added to the chain since, the result is known. The caller must be protected.
   */
  Found inMemory() {
    HybridLog log = engine.log();
    long begin = log.beginAddress();
    next = Address.NONE;
    if (!engine.index().enter(op.hash, op.entry)) {
      return Found.AGAIN;
    }
    if (!engine.index().find(op.hash, op.entry)) {
      return Found.NOTHING;
    }
    long newest = op.entry.address();
    // Equal addresses are equal chains, since the caller has pinned the record that it moves.
    if (op.phase == Phase.ABSENT_ON_DISK && newest == op.searchedFrom) {
      next = op.disk.address;
      return Found.NOTHING;
    }
    op.phase = Phase.SEARCH;
    op.searchedFrom = newest;
    if (walk.find(op.key, op.hash, newest, Math.max(log.headAddress(), op.disk.floor))) {
      return walk.isTombstone() ? Found.TOMBSTONE : walk.isDelta() ? Found.DELTA : Found.RECORD;
    }
    if (walk.address() < op.disk.floor) {
      next = walk.address();
      return Found.NOTHING;
    }
    // Otherwise the chain was dropped, with all of the key's records in it.
    boolean isOnDisk = op.readDisk(walk.address(), begin) == Step.READ_DISK;
    return isOnDisk ? Found.ON_DISK : Found.NOTHING;
  }

  /** Continues the search on disk. The caller must not be protected. */
  Found onDisk() {
    disk.searchNow(op);
    if (op.fold.isOpen()) {
      return Found.DELTA;
    }
    return switch (op.phase) {
      case FOUND_ON_DISK -> Found.RECORD;
      case ABSENT_ON_DISK -> op.disk.address >= op.disk.floor ? Found.TOMBSTONE : Found.NOTHING;
      default -> Found.AGAIN;
    };
  }

  @Override
  public void close() {
    user.close();
    engine.sessionCounters().close(counters);
    op.close();
  }
}
