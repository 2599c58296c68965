package io.fasterkv.operation;

import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.index.HashIndex;
import io.fasterkv.log.Claim;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * A record at the tail, from its allocation until it is in its chain or given up. Between these
 * two, its header says that it is invalid and how long it is, so that it can be left behind at any
 * point. One session's; used over and over.
 */
final class NewRecord {
  private final HybridLog log;
  private final HashIndex index;
  private final RecordLayout layout;
  private final Claim claim;
  private long address;
  private long bytes;
  private long previousAddress;
  private boolean keepsLost;
  private boolean isLost;

  NewRecord(Engine engine) {
    this(engine, Claim.RECORD);
  }

  /**
   * @param claim what the record is for
   */
  NewRecord(Engine engine, Claim claim) {
    this.claim = claim;
    log = engine.log();
    index = engine.index();
    layout = engine.layout();
  }

  /**
   * Tells that what follows are attempts to publish one and the same record. What an attempt leaves
   * behind, the next one takes, if nothing that was allocated later is in its chain: so who has
   * room for one record gets it into its chain, unless others find room there too.
   */
  void beginOne() {
    keepsLost = true;
    isLost = false;
  }

  /**
   * Allocates and lays out; false if there is no room now, or the chain's newest record is of a
   * later version, and the operation must come again.
   */
  boolean allocate(Operation<?, ?, ?> op, int valueBytes) {
    if (!op.version.mayGoAbove(log, op.entry.address())) {
      return false;
    }
    if (valueBytes < 0) {
      throw new RecordTooLarge("a value's size is negative: valueBytes=" + valueBytes);
    }
    long wanted = layout.recordBytes(op.key.length(), valueBytes);
    if (!canTakeLost(wanted, op.entry.address())) {
      isLost = false;
      address = log.allocate(wanted, claim);
      if (address == HybridLog.RETRY) {
        return false;
      }
    }
    // This comes first: if the rest fails, a scan skips these bytes only, not their whole page.
    Words.storeRelease(memory(), offset(), RecordInfo.padding(wanted));
    bytes = wanted;
    op.madeBytes = bytes;
    previousAddress = op.entry.address();
    layout.create(memory(), offset(), bytes, op.key, previousAddress);
    return true;
  }

  /**
   * A chain leads down, so what has come on top of it meanwhile must lie below. Nobody scans a page
   * as immutable, freezes or drops it that is mutable to the protected caller.
   */
  private boolean canTakeLost(long wanted, long newest) {
    return isLost && wanted == bytes && newest < address && log.regions().mayFillAgain(address);
  }

  MemorySegment memory() {
    return log.memory();
  }

  long offset() {
    return log.offset(address);
  }

  long address() {
    return address;
  }

  /** Puts the record at the head of its chain; if another was faster, gives it up. */
  boolean publish(Operation<?, ?, ?> op, boolean tombstone) {
    return publish(op, tombstone ? RecordInfo.TOMBSTONE : 0);
  }

  /** As {@link #publish(Operation, boolean)}, with the flags that the record begins with. */
  boolean publish(Operation<?, ?, ?> op, long infoBits) {
    Words.storeRelease(
        memory(), offset(), RecordInfo.complete(previousAddress, infoBits | op.version.bits()));
    boolean isPublished = false;
    try {
      isPublished = index.compareAndSet(op.entry, address);
    } finally {
      // Even if the stack overflowed: otherwise a scan would take the record for the key's newest.
      isLost = keepsLost && !isPublished;
      if (!isPublished) {
        Words.storeRelease(memory(), offset(), RecordInfo.unpublished(previousAddress));
      }
    }
    return isPublished;
  }
}
