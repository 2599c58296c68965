package io.fasterkv.operation;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.record.SpanRecord;
import java.lang.foreign.MemorySegment;

/**
 * Follows a chain of records from the newest towards the oldest, as far as memory holds it. One
 * session's; used over and over.
 */
final class ChainWalk {
  private final HybridLog log;
  private final RecordLayout layout;
  private final ChainSteps.Stripe steps;

  /** Where the walk ended: the record with the key, or the first one that was not looked at. */
  private long address;

  private boolean isMatch;
  private long info;

  ChainWalk(Engine engine, ChainSteps.Stripe steps) {
    log = engine.log();
    layout = engine.layout();
    this.steps = steps;
  }

  private ChainWalk(ChainWalk other) {
    log = other.log;
    layout = other.layout;
    steps = other.steps;
  }

  /** A walk of the same user's that ends elsewhere. */
  ChainWalk another() {
    return new ChainWalk(this);
  }

  /**
   * Looks for a key with its hash from {@code from} on, in records at {@code downTo} and above. The
   * caller is protected, and {@code downTo} is at least the head it has read since.
   */
  boolean find(KeyBytes key, long hash, long from, long downTo) {
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
        steps.walked(records);
        return true;
      }
      at = RecordInfo.previousAddress(word);
    }
    address = at;
    isMatch = false;
    steps.walked(records);
    return false;
  }

  /**
   * Passes at most {@code most} records of any key in the chain of a hash, at {@code downTo} and
   * above; returns how many. {@link #address()} is then the first record that was not passed. The
   * caller is protected, and {@code downTo} is at least the head it has read since.
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
    steps.walked(records);
    return records;
  }

  private long throughFork(long info, long at, long hash) {
    if (!RecordInfo.isPresent(info)) {
      throw new Corrupt(
          "a chain leads to no record: address=" + at + ", head=" + log.headAddress());
    }
    return ForkRecord.next(log.memory(), log.offset(at), hash);
  }

  long address() {
    return address;
  }

  boolean isMatch() {
    return isMatch;
  }

  /** Where a live record was found, if updates copy below {@code copyBelow}. */
  Region region(long copyBelow) {
    if (!isMatch || isTombstone()) {
      return Region.NONE;
    }
    return address < copyBelow ? Region.READ_ONLY : Region.MUTABLE;
  }

  boolean isTombstone() {
    return isMatch && RecordInfo.isTombstone(info);
  }

  /** Whether the record that was found leads to a large value. */
  boolean isLarge() {
    return isMatch && RecordInfo.isLarge(info);
  }

  /** Whether a value was found that lies, as a whole, in its record. */
  boolean isSmallValue() {
    return isMatch && (info & (RecordInfo.TOMBSTONE | RecordInfo.LARGE | RecordInfo.DELTA)) == 0;
  }

  /** How large the record with the value is that was found; unknown if it is no such record. */
  long valueRecordBytes() {
    return isSmallValue()
        ? layout.recordBytes(log.memory(), log.offset(address))
        : Operation.UNKNOWN_BYTES;
  }

  /** Whether the record that was found is only a part of the value. */
  boolean isDelta() {
    return isMatch && RecordInfo.isDelta(info);
  }

  /**
   * Whether nobody updates the record that was found in place any more, also when the caller has
   * left its epoch: what is only frozen may thaw.
   */
  boolean isStable() {
    return address < log.regions().immutableBelow() || isReplaced();
  }

  /**
   * As {@link #isStable()} within the epoch, for a record that has a newer one of its key above it.
   */
  boolean isSettled() {
    return address < log.regions().settledBelow() || isReplaced();
  }

  private boolean isReplaced() {
    return layout instanceof SpanRecord && RecordInfo.isSealed(info);
  }

  /** The first word of the record that was found, as it was then. */
  long info() {
    return info;
  }

  /**
   * Whether the chain ended in memory: the key is nowhere. The caller has read the begin before the
   * entry: a record that was moved to the tail before the begin passed it is then in the chain.
   */
  boolean isEnded(long beginAddress) {
    return !isMatch && address < beginAddress;
  }

  /** The record after the one that was found. */
  long previousAddress() {
    return RecordInfo.previousAddress(info);
  }
}
