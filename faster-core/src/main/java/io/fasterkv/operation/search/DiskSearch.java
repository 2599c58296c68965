package io.fasterkv.operation.search;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.log.HybridLog;
import io.fasterkv.memory.Words;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Follows a chain on disk with one record in each read. It reads only the record, not its page:
 * first a small piece, and then the whole record if that was not enough, both extended to the unit
 * in which the device reads. If the piece shows another key, the rest of the record is not read.
 */
public final class DiskSearch {
  /** Length of a first read where each cache line counts: a header and most keys. */
  private static final int LINE_BYTES = 64;

  private final HybridLog log;
  private final RecordLayout layout;
  private final SessionCounters.Stripe counters;
  private final long unit;

  public DiskSearch(Engine engine, SessionCounters.Stripe counters) {
    this.counters = counters;
    log = engine.log();
    layout = engine.layout();
    unit = log.device().readUnitBytes();
  }

  /** Prepares the first read of the record at the operation's disk address. */
  public void aim(Operation<?, ?, ?> op) {
    op.disk.isNow = false;
    aimFirst(op);
  }

  private void aimFirst(Operation<?, ?, ?> op) {
    if (op.phase == Phase.CHUNKS) {
      return;
    }
    // Both are multiples of the device's sector, so an extended read does not pass them.
    long end = Math.min(log.pageEnd(op.disk.address), log.flushedAddress());
    long first = layout.firstReadBytes();
    if (op.disk.isNow && log.device().readsMemory(op.disk.address)) {
      first = Math.min(LINE_BYTES, first);
    }
    aim(op, Math.min(first, end - op.disk.address));
  }

  private void aim(Operation<?, ?, ?> op, long recordBytes) {
    op.disk.from = op.disk.address & -unit;
    op.disk.bytes = (int) ((op.disk.address + recordBytes - op.disk.from + unit - 1) & -unit);
  }

  /** The target of the next read. */
  public MemorySegment target(Operation<?, ?, ?> op) {
    return op.large != null && op.phase == Phase.CHUNKS
        ? op.large.chunkTarget()
        : op.diskBuffer(op.disk.bytes).asSlice(0, op.disk.bytes);
  }

  /** Completes the search on the calling thread, which must not be protected. */
  public void searchNow(Operation<?, ?, ?> op) {
    op.disk.isNow = true;
    aimFirst(op);
    boolean isEnded;
    do {
      try {
        log.device().readNow(op.disk.from, target(op));
        op.disk.failure = null;
      } catch (IOException e) {
        op.disk.failure = e;
      }
      isEnded = examine(op);
    } while (!isEnded);
  }

  /**
   * Examines the bytes that were read. Returns true if the search has ended, with the result in the
   * operation's phase; false if there must be another read.
   */
  public boolean examine(Operation<?, ?, ?> op) {
    if (op.disk.address < begin(op)) {
      // The record was moved or dropped during the read.
      op.phase = Phase.SEARCH;
      return true;
    }
    if (op.disk.failure != null) {
      throw new DeviceFailed(
          "a record could not be read: " + log.device().place(op.disk.address), op.disk.failure);
    }
    long skipped = op.disk.address - op.disk.from;
    MemorySegment memory = op.setDiskRecord(skipped, op.disk.bytes - skipped);
    long info = checkedInfo(op, memory);
    if (RecordInfo.isFork(info)) {
      return passOver(op, ForkRecord.next(memory, 0, op.hash));
    }
    long recordBytes = checkedRecordBytes(op, memory);
    boolean isWhole = recordBytes <= memory.byteSize();
    if ((isWhole || hasKey(op, memory)) && !layout.keyEquals(memory, 0, op.key)) {
      return passOver(op, RecordInfo.previousAddress(info));
    }
    if (!isWhole) {
      aim(op, recordBytes);
      return false;
    }
    countRead(op);
    return take(op, info);
  }

  private boolean passOver(Operation<?, ?, ?> op, long previousAddress) {
    countRead(op);
    return follow(op, previousAddress);
  }

  private void countRead(Operation<?, ?, ?> op) {
    counters.readFromDisk();
    log.heat().readFromDisk(op.disk.address);
  }

  /**
   * Whether the read bytes include the record's key if it has the length of the operation's key.
   */
  private boolean hasKey(Operation<?, ?, ?> op, MemorySegment memory) {
    return layout.headerBytes() + Words.align(op.key.length()) <= memory.byteSize();
  }

  /** Takes a record with the key, which is the value or a part of it. */
  private boolean take(Operation<?, ?, ?> op, long info) {
    if (RecordInfo.isTombstone(info)) {
      return absent(op);
    }
    if (RecordInfo.isLarge(info)) {
      checkAnchor(op);
    }
    boolean isDelta = RecordInfo.isDelta(info) && !op.takesVersions();
    if (isMerging(op)) {
      op.fold.addOlder(op.disk.address, op.diskRecord(), 0, op.searchedDownTo);
    } else if (isDelta) {
      op.fold.open(op.disk.address, op.diskRecord(), 0);
    }
    if (isDelta) {
      return follow(op, RecordInfo.previousAddress(info));
    }
    op.phase = Phase.FOUND_ON_DISK;
    return true;
  }

  /** Ends a search at the end of the chain; if there are deltas above, they are the value. */
  private static boolean absent(Operation<?, ?, ?> op) {
    op.phase = isMerging(op) ? Phase.FOUND_ON_DISK : Phase.ABSENT_ON_DISK;
    return true;
  }

  /** Whether the operation needs the whole value and has a part of it. */
  private static boolean isMerging(Operation<?, ?, ?> op) {
    return op.fold.isOpen() && !op.takesVersions();
  }

  private boolean follow(Operation<?, ?, ?> op, long previousAddress) {
    if (previousAddress >= op.disk.address || previousAddress % Long.BYTES != 0) {
      throw corrupt(op, "a chain does not lead down: previousAddress=" + previousAddress);
    }
    op.disk.address = previousAddress;
    if (previousAddress < Math.max(begin(op), op.disk.floor)) {
      if (isMerging(op) && op.searchedDownTo != log.beginAddress()) {
        // Records below may have been moved to the tail, merged with what is in the fold.
        op.phase = Phase.SEARCH;
        return true;
      }
      return absent(op);
    }
    aimFirst(op);
    return false;
  }

  private long begin(Operation<?, ?, ?> op) {
    return Math.min(log.beginAddress(), op.pinnedBegin);
  }

  private long checkedInfo(Operation<?, ?, ?> op, MemorySegment memory) {
    if (memory.byteSize() < layout.headerBytes()) {
      throw corrupt(op, "a record's header is cut off: bytes=" + memory.byteSize());
    }
    long info = RecordLayout.info(memory, 0);
    if (!RecordInfo.isPresent(info) || RecordInfo.isPadding(info)) {
      throw corrupt(op, "there is no record: info=" + Long.toHexString(info));
    }
    return info;
  }

  private long checkedRecordBytes(Operation<?, ?, ?> op, MemorySegment memory) {
    long room = log.pageEnd(op.disk.address) - op.disk.address;
    long bytes = layout.recordBytes(memory, 0);
    if (!layout.isSound(memory, 0, bytes) || bytes > room) {
      throw corrupt(op, "a record's sizes are out of range: recordBytes=" + bytes);
    }
    return bytes;
  }

  /** Checked here, where the place for an error message is known. */
  private void checkAnchor(Operation<?, ?, ?> op) {
    if (LargeAnchor.read(op.diskRecord(), 0) == null) {
      throw corrupt(op, LargeAnchor.UNSOUND);
    }
  }

  private Corrupt corrupt(Operation<?, ?, ?> op, String what) {
    return new Corrupt(what + ", " + log.device().place(op.disk.address));
  }
}
