package io.fasterkv.operation;

import io.fasterkv.epoch.SystemState;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import java.lang.foreign.MemorySegment;

/**
 * The short way of a blind update of a {@code long} key that is not changed in place: all of its
 * chain is read-only, so the new record goes on top whatever the chain holds (SIGMOD'18, algorithm
 * 3). After a checkpoint most upserts go this way once. One session's; one thread at a time.
 */
final class BlindAppend {
  private final HybridLog log;
  private final HashIndex index;
  private final SystemState state;
  private final ChainSteps.Stripe steps;
  private final IndexEntry entry = new IndexEntry();

  BlindAppend(Engine engine, ChainSteps.Stripe steps) {
    log = engine.log();
    index = engine.index();
    state = engine.versions().state();
    this.steps = steps;
  }

  /**
   * Appends a record; false, and nothing has happened, if the general way has to. The caller is
   * protected, and has seen since that the index is quiet: should a version shift begin now, it
   * waits for the caller before any attempt is of the next version.
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
    boolean isPublished = false;
    try {
      isPublished = index.compareAndSet(entry, address);
    } finally {
      if (!isPublished) {
        Words.storeRelease(memory, record, RecordInfo.unpublished(previous));
      }
    }
    if (isPublished) {
      steps.accepted();
      steps.replaced(LongRecord.BYTES, LongRecord.BYTES);
    }
    return isPublished;
  }
}
