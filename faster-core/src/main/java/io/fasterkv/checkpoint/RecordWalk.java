package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.log.VoidRanges;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Goes over the records of a checkpoint that are in a chain, in the order of their addresses, and
 * believes no size. A tombstone at the end of its chain is left out, as in any scan.
 */
final class RecordWalk {
  private final CheckpointImage image;
  private final RecordLayout layout;
  private final long begin;
  private final VoidRanges voids;

  /** Takes what a walk finds. */
  interface Visitor {
    /**
     * @param memory has the record, until this returns
     */
    void visit(long address, long info, MemorySegment memory, long record);
  }

  RecordWalk(CheckpointImage image) {
    this.image = image;
    layout = RecordLayout.of(image.manifest().shape().recordKind());
    begin = image.manifest().cut().begin();
    voids = new VoidRanges(image.manifest().voidsAfterRecovery());
  }

  void run(Visitor visitor) {
    long skippedUntil = begin;
    for (Extent extent : image.extents()) {
      long from = Math.max(extent.from(), skippedUntil);
      if (from < extent.until()) {
        MemorySegment bytes = image.read(extent);
        boolean isEndOfPage = run(extent, from, bytes, visitor);
        int pageBytes = image.manifest().shape().pageBytes();
        skippedUntil = isEndOfPage ? (extent.from() / pageBytes + 1) * pageBytes : extent.until();
      }
    }
  }

  /** Returns whether nothing follows on the page. */
  private boolean run(Extent extent, long from, MemorySegment bytes, Visitor visitor) {
    for (long at = from; at < extent.until(); ) {
      long record = at - extent.from();
      long info = Words.loadPlain(bytes, record);
      if (!RecordInfo.isPresent(info)) {
        return true;
      }
      long size = size(info, bytes, record);
      if (size < RecordInfo.BYTES || size % Long.BYTES != 0 || size > extent.until() - at) {
        throw new Corrupt("a record's size is out of range: size=" + size + ", " + image.place(at));
      }
      if (isWanted(at, info)) {
        if (!layout.isSound(bytes, record, size)) {
          throw new Corrupt(
              "a record's sizes do not fit each other: recordBytes="
                  + size
                  + ", "
                  + image.place(at));
        }
        visitor.visit(at, info, bytes, record);
      }
      at += size;
    }
    return false;
  }

  private long size(long info, MemorySegment bytes, long record) {
    if (RecordInfo.isPadding(info)) {
      return RecordInfo.paddingBytes(info);
    }
    if (RecordInfo.isFork(info)) {
      return ForkRecord.BYTES;
    }
    boolean hasHeader = bytes.byteSize() - record >= layout.headerBytes();
    return hasHeader ? layout.recordBytes(bytes, record) : -1;
  }

  private boolean isWanted(long at, long info) {
    boolean isEndOfChain = RecordInfo.isTombstone(info) && RecordInfo.previousAddress(info) < begin;
    return RecordInfo.isKeyed(info)
        && !RecordInfo.isPadding(info)
        && !RecordInfo.isInvalid(info)
        && !RecordInfo.isChunk(info)
        && !isEndOfChain
        && !voids.contains(at, info);
  }
}
