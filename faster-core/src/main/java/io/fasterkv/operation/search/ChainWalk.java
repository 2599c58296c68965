package io.fasterkv.operation.search;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.version.Region;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Follows a chain from the newest record towards the oldest, as far as it is in memory. For one
 * session; reusable.
 */
public final class ChainWalk {
  private final HybridLog log;
  private final RecordLayout layout;
  private final SessionCounters.Stripe counters;

  /** Where the walk ended: the record with the key, or the first one that was not examined. */
  private long address;

  private boolean isMatch;
  private long info;

  public ChainWalk(Engine engine, SessionCounters.Stripe counters) {
    log = engine.log();
    layout = engine.layout();
    this.counters = counters;
  }

  private ChainWalk(ChainWalk other) {
    log = other.log;
    layout = other.layout;
    counters = other.counters;
  }

  /** Creates another walk with the same settings. */
  public ChainWalk another() {
    return new ChainWalk(this);
  }

  /**
   * Searches for a key with its hash from {@code from} on, in records at or above {@code downTo}.
   * The caller must be protected, and {@code downTo} must be at least the head that it has read
   * since.
   */
  public boolean find(KeyBytes key, long hash, long from, long downTo) {
    MemorySegment memory = log.memory();
    long at = from;
    int records = 0;
    while (at >= downTo) {
      records++;
      long record = log.offset(at);
      long word = RecordLayout.info(memory, record);
      if (!RecordInfo.isKeyed(word)) {
        at = throughFork(word, at, hash);
        continue;
      }
      if (layout.keyEquals(memory, record, key)) {
        address = at;
        info = word;
        isMatch = true;
        counters.walked(records);
        return true;
      }
      at = RecordInfo.previousAddress(word);
    }
    address = at;
    isMatch = false;
    counters.walked(records);
    return false;
  }

  /**
   * Skips at most {@code most} records of any key in the chain of a hash, at or above {@code
   * downTo}; returns their number. {@link #address()} is then the first record that was not
   * skipped. The caller must be protected, and {@code downTo} must be at least the head that it has
   * read since.
   */
  int pass(long hash, long from, long downTo, int most) {
    MemorySegment memory = log.memory();
    long at = from;
    int records = 0;
    while (at >= downTo && records < most) {
      records++;
      long word = RecordLayout.info(memory, log.offset(at));
      at =
          RecordInfo.isKeyed(word) ? RecordInfo.previousAddress(word) : throughFork(word, at, hash);
    }
    address = at;
    isMatch = false;
    counters.walked(records);
    return records;
  }

  private long throughFork(long info, long at, long hash) {
    if (!RecordInfo.isPresent(info)) {
      throw new Corrupt(
          "a chain leads to no record: address=" + at + ", head=" + log.headAddress());
    }
    return ForkRecord.next(log.memory(), log.offset(at), hash);
  }

  public long address() {
    return address;
  }

  public boolean isMatch() {
    return isMatch;
  }

  /** The region of the live record that was found, if updates below {@code copyBelow} copy. */
  public Region region(long copyBelow) {
    if (!isMatch || isTombstone()) {
      return Region.NONE;
    }
    return address < copyBelow ? Region.READ_ONLY : Region.MUTABLE;
  }

  public boolean isTombstone() {
    return isMatch && RecordInfo.isTombstone(info);
  }

  /** Whether the record that was found has a large value. */
  public boolean isLarge() {
    return isMatch && RecordInfo.isLarge(info);
  }

  /** Whether a value was found that is completely in its record. */
  public boolean isSmallValue() {
    return isMatch && (info & (RecordInfo.TOMBSTONE | RecordInfo.LARGE | RecordInfo.DELTA)) == 0;
  }

  /**
   * Length of the record with the value that was found; unknown if it is a tombstone, a delta or
   * large.
   */
  public long valueRecordBytes() {
    return isSmallValue()
        ? layout.recordBytes(log.memory(), log.offset(address))
        : SessionCounters.UNKNOWN_BYTES;
  }

  /** Whether the record that was found is a delta, and so only a part of the value. */
  public boolean isDelta() {
    return isMatch && RecordInfo.isDelta(info);
  }

  /**
   * Whether no thread updates the record that was found in place any more, even after the caller
   * has left its epoch. False for a record that is only frozen, since it may thaw.
   */
  public boolean isStable() {
    return address < log.regions().immutableBelow() || layout.isReplaced(info);
  }

  /**
   * Like {@link #isStable()} within the epoch, for a record that has a newer one of its key above
   * it.
   */
  public boolean isSettled() {
    return address < log.regions().settledBelow() || layout.isReplaced(info);
  }

  /** The first word of the record that was found, as it was read then. */
  public long info() {
    return info;
  }

  /**
   * Whether the chain ended in memory, so that the key does not exist. The caller must have read
   * the begin address before the entry: a record that was moved to the tail before the begin
   * address passed it is then in the chain.
   */
  public boolean isEnded(long beginAddress) {
    return !isMatch && address < beginAddress;
  }

  /** Address of the record after the one that was found. */
  public long previousAddress() {
    return RecordInfo.previousAddress(info);
  }
}
