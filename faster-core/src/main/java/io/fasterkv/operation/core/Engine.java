package io.fasterkv.operation.core;

import io.fasterkv.api.Merge;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.KeyHash;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanCursor;
import io.fasterkv.log.ScanRange;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.operation.version.StoreVersions;
import io.fasterkv.record.Address;
import io.fasterkv.record.KeyBytes;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What all operations of a store share; the only class in which index and log meet.
 *
 * @param layout the layout of the store's records
 * @param merge merges deltas; null if no operation of the store creates any
 * @param keepRule tells compaction which live records to keep; null keeps all of them
 */
public record Engine(
    Epochs epochs,
    HashIndex index,
    HybridLog log,
    RecordLayout layout,
    KeyHash keyHash,
    BufferPool buffers,
    SessionCounters sessionCounters,
    StoreVersions versions,
    @Nullable Merge merge,
    @Nullable KeepRule keepRule) {

  /** Whether RMWs may append deltas. */
  public boolean hasDeltas() {
    return merge != null && log.room().takesDeltas();
  }

  /** Frees the entry of a hash if its chain was dropped, unless another thread has done so. */
  public void freeIfDropped(long hash, IndexEntry entry) {
    long newest = entry.address();
    if (newest != Address.NONE && newest < log.removableBelow()) {
      index.remove(hash, entry);
    }
  }

  /** Notes that a record in memory died because the protected caller has replaced or deleted it. */
  public void died(long address) {
    log.room().died(layout, address);
  }

  /** The hash of a key. */
  public long hash(KeyBytes key) {
    return hash(key.memory(), 0, key.length());
  }

  /** The hash of the key at an offset of {@code memory}. */
  public long hash(MemorySegment memory, long key, int keyBytes) {
    return layout.hash(keyHash, memory, key, keyBytes);
  }

  /**
   * A cut of the log.
   *
   * @param begin the log's begin address at that moment, pinned
   * @param end all records below it are immutable, or about to be
   */
  public record Cut(long begin, long end) {}

  /**
   * Folds the log over and pins its begin, which the caller must unpin. Records dropped before or
   * during this call are not in the cut.
   */
  public Cut cut() {
    while (true) {
      long begin = log.pins().pin();
      boolean isKept = false;
      try {
        long end = foldOver();
        if (log.beginAddress() == begin) {
          isKept = true;
          return new Cut(begin, end);
        }
      } finally {
        if (!isKept) {
          log.pins().unpin(begin);
        }
      }
    }
  }

  /** Makes all records below the returned address immutable, for a caller outside any session. */
  public long foldOver() {
    try (EpochUser user = epochs.register()) {
      user.protect();
      try {
        return log.cuts().foldOver();
      } finally {
        user.unprotect();
      }
    }
  }

  /** Opens a cursor over a range of the log, which the caller must close. */
  public ScanCursor scan(ScanRange range) {
    return new ScanCursor(log, epochs, layout, buffers, range);
  }

  /**
   * Waits until every operation in progress now has ended, so that everything they have allocated
   * has its header; the caller must not be protected.
   */
  public void awaitEarlierOperations() {
    epochs.await(() -> {}, () -> "operations under way to end");
  }
}
