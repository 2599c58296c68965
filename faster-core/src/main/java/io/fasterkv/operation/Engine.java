package io.fasterkv.operation;

import io.fasterkv.api.KeepRule;
import io.fasterkv.api.KeyHash;
import io.fasterkv.api.Merge;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.LongRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What all operations of a store work on; the only place where index and log meet.
 *
 * @param layout the shape of the store's records
 * @param merge merges deltas; null if no operation of the store makes any
 * @param keepRule which records compaction has to keep; null: all that are live
 */
public record Engine(
    Epochs epochs,
    HashIndex index,
    HybridLog log,
    RecordLayout layout,
    KeyHash keyHash,
    BufferPool buffers,
    ChainSteps chainSteps,
    StoreVersions versions,
    @Nullable Merge merge,
    @Nullable KeepRule keepRule) {

  /**
   * Whether RMWs may append deltas. Without a device they never do: the fuzzy region is the page
   * that compaction takes next, for the time of an epoch, and who waits for that needs no room.
   */
  boolean hasDeltas() {
    return merge != null && !log.isInMemory();
  }

  /** Frees an entry whose chain was dropped from the log, unless another thread has done it. */
  void freeIfDropped(IndexEntry entry) {
    long newest = entry.address();
    if (newest != Address.NONE && newest < log.removableBelow()) {
      index.remove(entry);
    }
  }

  /**
   * Notes that a record in memory, which the protected caller has replaced or deleted, is dead: in
   * a store without a device, room may be had.
   */
  void died(long address) {
    if (log.isInMemory()) {
      long record = log.offset(address);
      long bytes = layout.recordBytes(log.memory(), record);
      LargeAnchor anchor =
          RecordInfo.isLarge(RecordLayout.info(log.memory(), record))
              ? LargeAnchor.read(log.memory(), record)
              : null;
      log.room().died(anchor == null ? bytes : bytes + anchor.bytes());
    }
  }

  /** The hash of a key, by the store's kind of records. */
  public long hash(KeyBytes key) {
    return hash(key.memory(), key.length());
  }

  /** As the other, of the key that {@code memory} begins with. */
  long hash(MemorySegment memory, int keyBytes) {
    return layout instanceof LongRecord
        ? LongHash.hash(Words.loadPlain(memory, 0))
        : keyHash.hash(memory, 0, keyBytes);
  }

  /**
   * A moment of the log.
   *
   * @param begin the log's begin at that moment, pinned
   * @param end all records below it are immutable, or about to be
   */
  public record Cut(long begin, long end) {}

  /**
   * Folds the log over and pins its begin; the caller unpins it. What had been dropped from the log
   * before this is not in the cut, also if it was dropped while this was running.
   */
  public Cut cut() {
    while (true) {
      long begin = log.holds().pin();
      boolean isKept = false;
      try {
        long end = foldOver();
        if (log.beginAddress() == begin) {
          isKept = true;
          return new Cut(begin, end);
        }
      } finally {
        if (!isKept) {
          log.holds().unpin(begin);
        }
      }
    }
  }

  /** Makes all records below the address that is returned immutable, for a caller in no session. */
  public long foldOver() {
    try (EpochUser user = epochs.register()) {
      user.protect();
      try {
        return log.foldOver();
      } finally {
        user.unprotect();
      }
    }
  }

  /** A cursor over a range of the log; the caller closes it. */
  public ScanCursor scan(ScanRange range) {
    return new ScanCursor(log, epochs, layout, buffers, range);
  }

  /**
   * Waits until every operation that is under way now has ended, so that all that they allocated
   * has its header; the caller is not protected.
   */
  public void awaitEarlierOperations() {
    epochs.await(() -> {}, () -> "operations under way to end");
  }
}
