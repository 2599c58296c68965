package io.fasterkv.operation.fastpath;

import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.NewRecord;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.Address;
import io.fasterkv.record.LongHash;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.state.SystemState;
import java.lang.foreign.MemorySegment;

/**
 * The fast path of a blind update of a {@code long} key that cannot be made in place: the whole
 * chain is read-only, so the new record goes on top whatever the chain contains (SIGMOD'18,
 * algorithm 3). After a checkpoint most keys' first upsert takes this path. For one session; one
 * thread at a time.
 */
final class BlindAppend {
  private final HybridLog log;
  private final HashIndex index;
  private final SystemState state;
  private final SessionCounters.Stripe counters;
  private final IndexEntry entry = new IndexEntry();

  /** The record that is being published, until it is known whether it was. */
  private long maybePublished = Address.NONE;

  BlindAppend(Engine engine, SessionCounters.Stripe counters) {
    log = engine.log();
    index = engine.index();
    state = engine.versions().state();
    this.counters = counters;
  }

  /**
   * Appends a record; returns false, and changes nothing, if the slow path is needed. The caller
   * must be protected and must have seen since then that the index is quiet: a version shift that
   * begins now waits for the caller before any attempt belongs to the next version.
   */
  boolean append(long key, long value) {
    long hash = LongHash.hash(key);
    long begin = log.beginAddress();
    if (!index.enter(hash, entry) || !index.find(hash, entry)) {
      return false;
    }
    long previous = entry.address();
    long word = state.word();
    if (previous < begin
        || previous >= log.regions().inPlaceFrom()
        || SystemState.phase(word).isShifting()) {
      return false;
    }
    long address = log.allocate(LongRecord.BYTES);
    return address != HybridLog.RETRY
        && publish(
            address, key, value, previous, RecordInfo.versionBits(SystemState.version(word)));
  }

  private boolean publish(long address, long key, long value, long previous, long version) {
    MemorySegment memory = log.memory();
    long record = log.offset(address);
    Words.storePlain(memory, record + LongRecord.KEY, key);
    Words.storePlain(memory, record + LongRecord.VALUE, value);
    Words.storeRelease(memory, record, RecordInfo.complete(previous, version));
    maybePublished = address;
    boolean isPublished = index.compareAndSet(entry, address);
    maybePublished = Address.NONE;
    if (isPublished) {
      counters.accepted();
      counters.replaced(LongRecord.BYTES, LongRecord.BYTES);
    } else {
      Words.storeRelease(memory, record, RecordInfo.unpublished(previous));
    }
    return isPublished;
  }

  /**
   * Decides about a record whose publication has thrown. The caller is protected as it was then.
   */
  void settlePublication() {
    long address = maybePublished;
    if (address != Address.NONE) {
      maybePublished = Address.NONE;
      NewRecord.giveUpUnpublished(log, index, entry, address);
    }
  }
}
