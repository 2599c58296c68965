package io.fasterkv.operation.core;

import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.Claim;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * A record at the tail, from its allocation until it is in its chain or abandoned. In between, its
 * header says that it is invalid and how long it is, so it can be abandoned at any point. For one
 * session; reusable.
 */
public final class NewRecord {
  private final HybridLog log;
  private final HashIndex index;
  private final RecordLayout layout;
  private final Claim claim;
  private long address;
  private long bytes;
  private long previousAddress;
  private boolean keepsLost;
  private boolean isLost;

  public NewRecord(Engine engine) {
    this(engine, Claim.RECORD);
  }

  /**
   * @param claim the purpose of the record
   */
  public NewRecord(Engine engine, Claim claim) {
    this.claim = claim;
    log = engine.log();
    index = engine.index();
    layout = engine.layout();
  }

  /**
   * Begins the attempts to publish one record. The next attempt reuses the record that the last one
   * has abandoned, if nothing allocated later is in its chain. So an operation with room for one
   * record publishes it, unless other threads' records enter the chain meanwhile.
   */
  public void beginOne() {
    keepsLost = true;
    isLost = false;
  }

  /**
   * Allocates and lays out the record. Returns false if there is no room now, or the chain's newest
   * record has a later version, so that the operation must retry.
   */
  public boolean allocate(Operation<?, ?, ?> op, int valueBytes) {
    if (!op.version.mayAppendAbove(log, op.entry.address())) {
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
    // Written first: if the rest fails, a scan skips only these bytes and not the rest of the page.
    Words.storeRelease(memory(), offset(), RecordInfo.padding(wanted));
    bytes = wanted;
    op.madeBytes = bytes;
    op.recordAddress = address;
    previousAddress = op.entry.address();
    layout.create(memory(), offset(), bytes, op.key, previousAddress);
    return true;
  }

  /**
   * Whether the abandoned record can be reused. A chain leads down, so what was added to it
   * meanwhile must be below the record. A page that is mutable to the protected caller is not
   * scanned as immutable, frozen or dropped.
   */
  private boolean canTakeLost(long wanted, long newest) {
    return isLost && wanted == bytes && newest < address && log.regions().mayFillAgain(address);
  }

  public MemorySegment memory() {
    return log.memory();
  }

  public long offset() {
    return log.offset(address);
  }

  long address() {
    return address;
  }

  /** Puts the record at the head of its chain; abandons it if another thread was faster. */
  public boolean publish(Operation<?, ?, ?> op, boolean tombstone) {
    return publish(op, tombstone ? RecordInfo.TOMBSTONE : 0);
  }

  /** Like {@link #publish(Operation, boolean)}, with the initial flags of the record. */
  public boolean publish(Operation<?, ?, ?> op, long infoBits) {
    Words.storeRelease(
        memory(), offset(), RecordInfo.complete(previousAddress, infoBits | op.version.bits()));
    isLost = false;
    op.maybePublished = address;
    boolean isPublished = index.compareAndSet(op.entry, address);
    op.maybePublished = Address.NONE;
    if (!isPublished) {
      isLost = keepsLost;
      Words.storeRelease(memory(), offset(), RecordInfo.unpublished(previousAddress));
    }
    return isPublished;
  }

  /**
   * Abandons an operation's record whose publication has thrown, like {@link #giveUpUnpublished}.
   * The caller must be protected as it was then, and have some more stack left.
   */
  public static void settlePublication(Engine engine, Operation<?, ?, ?> op) {
    if (op.maybePublished != Address.NONE) {
      giveUpUnpublished(engine.log(), engine.index(), op.entry, op.maybePublished);
      op.maybePublished = Address.NONE;
    }
  }

  /**
   * Marks a record as invalid if publishing it has thrown before the entry was swapped: otherwise a
   * scan would take the record for the key's newest. The stack may have overflowed after the swap
   * too; if the entry has changed, the record may be in its chain, where other threads may have
   * updated it, and it stays valid.
   */
  public static void giveUpUnpublished(
      HybridLog log, HashIndex index, IndexEntry entry, long address) {
    if (index.isUnchanged(entry)) {
      long unpublished = RecordInfo.unpublished(entry.address());
      Words.storeRelease(log.memory(), log.offset(address), unpublished);
    }
  }
}
