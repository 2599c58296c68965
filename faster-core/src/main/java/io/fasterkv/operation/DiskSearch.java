package io.fasterkv.operation;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.Operation.Phase;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Follows a chain on disk, one record a read. It reads the record only, not its page: a small piece
 * first, and the whole record when that was not enough, both widened to the unit that the device
 * reads in. Of a record with another key the piece that has its key is enough.
 */
final class DiskSearch {
  /** What a first read has where each line of the cache counts: a header, and most keys. */
  private static final int LINE_BYTES = 64;

  private final HybridLog log;
  private final RecordLayout layout;
  private final ChainSteps.Stripe steps;
  private final long unit;

  DiskSearch(Engine engine, ChainSteps.Stripe steps) {
    this.steps = steps;
    log = engine.log();
    layout = engine.layout();
    unit = log.device().readUnitBytes();
  }

  /** Prepares the first read of the record at the operation's disk address. */
  void aim(Operation<?, ?, ?> op) {
    op.isReadNow = false;
    aimFirst(op);
  }

  private void aimFirst(Operation<?, ?, ?> op) {
    if (op.phase == Phase.CHUNKS) {
      return;
    }
    // Both are multiples of the device's sector, so a read that is widened does not pass them.
    long end = Math.min(log.pageEnd(op.diskAddress), log.flushedAddress());
    long first = layout.firstReadBytes();
    if (op.isReadNow && log.device().readsMemory(op.diskAddress)) {
      first = Math.min(LINE_BYTES, first);
    }
    aim(op, Math.min(first, end - op.diskAddress));
  }

  private void aim(Operation<?, ?, ?> op, long recordBytes) {
    op.diskFrom = op.diskAddress & -unit;
    op.diskBytes = (int) ((op.diskAddress + recordBytes - op.diskFrom + unit - 1) & -unit);
  }

  /** Where the next read goes to. */
  MemorySegment target(Operation<?, ?, ?> op) {
    return op.large != null && op.phase == Phase.CHUNKS
        ? op.large.chunkTarget()
        : op.diskBuffer(op.diskBytes).asSlice(0, op.diskBytes);
  }

  /** Searches to the end on the calling thread, which is not protected. */
  void searchNow(Operation<?, ?, ?> op) {
    op.isReadNow = true;
    aimFirst(op);
    boolean isEnded;
    do {
      try {
        log.device().readNow(op.diskFrom, target(op));
        op.diskFailure = null;
      } catch (IOException e) {
        op.diskFailure = e;
      }
      isEnded = examine(op);
    } while (!isEnded);
  }

  /**
   * Looks at what was read. Returns true when the search has ended and the operation's phase tells
   * how; false when the next read is to be made.
   */
  boolean examine(Operation<?, ?, ?> op) {
    if (op.diskAddress < begin(op)) {
      // What lay here was moved or dropped while it was read.
      op.phase = Phase.SEARCH;
      return true;
    }
    if (op.diskFailure != null) {
      throw new DeviceFailed(
          "a record could not be read: " + log.device().place(op.diskAddress), op.diskFailure);
    }
    long skipped = op.diskAddress - op.diskFrom;
    MemorySegment memory = op.setDiskRecord(skipped, op.diskBytes - skipped);
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
    steps.readFromDisk();
    return take(op, info);
  }

  private boolean passOver(Operation<?, ?, ?> op, long previousAddress) {
    steps.readFromDisk();
    return follow(op, previousAddress);
  }

  /** Whether what was read goes as far as the operation's key would. */
  private boolean hasKey(Operation<?, ?, ?> op, MemorySegment memory) {
    return layout.headerBytes() + RecordLayout.align(op.key.length()) <= memory.byteSize();
  }

  /** The record at hand has the key: it is the value, or a part of it. */
  private boolean take(Operation<?, ?, ?> op, long info) {
    if (RecordInfo.isTombstone(info)) {
      return absent(op);
    }
    if (RecordInfo.isLarge(info)) {
      checkAnchor(op);
    }
    boolean isDelta = RecordInfo.isDelta(info) && !op.takesVersions();
    if (isMerging(op)) {
      op.fold.addOlder(op, op.diskAddress, op.diskRecord(), 0, op.searchedDownTo);
    } else if (isDelta) {
      op.fold.open(op, op.diskAddress, op.diskRecord(), 0);
    }
    if (isDelta) {
      return follow(op, RecordInfo.previousAddress(info));
    }
    op.phase = Phase.FOUND_ON_DISK;
    return true;
  }

  /** Nothing is below; deltas above are the value. */
  private static boolean absent(Operation<?, ?, ?> op) {
    op.phase = isMerging(op) ? Phase.FOUND_ON_DISK : Phase.ABSENT_ON_DISK;
    return true;
  }

  /** Whether the operation wants the whole value, and has a part of it. */
  private static boolean isMerging(Operation<?, ?, ?> op) {
    return op.fold.isOpen() && !op.takesVersions();
  }

  private boolean follow(Operation<?, ?, ?> op, long previousAddress) {
    if (previousAddress >= op.diskAddress || previousAddress % Long.BYTES != 0) {
      throw corrupt(op, "a chain does not lead down: previousAddress=" + previousAddress);
    }
    op.diskAddress = previousAddress;
    if (previousAddress < Math.max(begin(op), op.diskFloor)) {
      if (isMerging(op) && op.searchedDownTo != log.beginAddress()) {
        // What was below may have been moved to the tail, merged with what is in the fold.
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
    long room = log.pageEnd(op.diskAddress) - op.diskAddress;
    long bytes = layout.recordBytes(memory, 0);
    if (!layout.isSound(memory, 0, bytes) || bytes > room) {
      throw corrupt(op, "a record's sizes are out of range: recordBytes=" + bytes);
    }
    return bytes;
  }

  /** Here, where the place is known. */
  private void checkAnchor(Operation<?, ?, ?> op) {
    if (LargeAnchor.read(op.diskRecord(), 0) == null) {
      throw corrupt(op, LargeAnchor.UNSOUND);
    }
  }

  private Corrupt corrupt(Operation<?, ?, ?> op, String what) {
    return new Corrupt(what + ", " + log.device().place(op.diskAddress));
  }
}
