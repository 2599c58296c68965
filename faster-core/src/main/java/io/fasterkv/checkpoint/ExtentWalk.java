package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.log.VoidRanges;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * Goes over the records of a checkpoint that are in a chain, extent by extent in the order of their
 * addresses, and believes no size. A tombstone at the end of its chain is left out, as in any scan.
 */
final class ExtentWalk {
  private final RecordLayout layout;
  private final long pageBytes;
  private final long begin;
  private final VoidRanges voids;

  /** Nothing is wanted below: gaps at the ends of pages, and what lies below the begin. */
  private long skippedUntil;

  /** Takes what a walk finds. */
  interface Visitor {
    /**
     * @param memory has the record, until this returns
     */
    void visit(long address, long info, MemorySegment memory, long record);
  }

  /**
   * @param manifest of what is walked over; its extents are not looked at
   */
  ExtentWalk(CheckpointManifest manifest) {
    layout = RecordLayout.of(manifest.shape().recordKind());
    pageBytes = manifest.shape().pageBytes();
    begin = manifest.cut().begin();
    voids = new VoidRanges(manifest.voidsAfterRecovery());
    skippedUntil = begin;
  }

  RecordLayout layout() {
    return layout;
  }

  /** Whether something of an extent, which is the next one, is to be looked at. */
  boolean isWanted(long until) {
    return until > skippedUntil;
  }

  /**
   * Goes over an extent from {@code from} on.
   *
   * @param place names an address for an error message
   */
  void run(long from, MemorySegment bytes, LongFunction<String> place, Visitor visitor) {
    long until = from + bytes.byteSize();
    for (long at = Math.max(from, skippedUntil); at < until; ) {
      long record = at - from;
      long info = Words.loadPlain(bytes, record);
      if (!RecordInfo.isPresent(info)) {
        // Nothing follows on the page.
        skippedUntil = (from / pageBytes + 1) * pageBytes;
        return;
      }
      long size = size(info, bytes, record);
      if (size < RecordInfo.BYTES || size % Long.BYTES != 0 || size > until - at) {
        throw new Corrupt("a record's size is out of range: size=" + size + ", " + place.apply(at));
      }
      if (isShown(at, info)) {
        if (!layout.isSound(bytes, record, size)) {
          throw new Corrupt(
              "a record's sizes do not fit each other: recordBytes="
                  + size
                  + ", "
                  + place.apply(at));
        }
        visitor.visit(at, info, bytes, record);
      }
      at += size;
    }
    skippedUntil = until;
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

  private boolean isShown(long at, long info) {
    boolean isEndOfChain = RecordInfo.isTombstone(info) && RecordInfo.previousAddress(info) < begin;
    return RecordInfo.isKeyed(info)
        && !RecordInfo.isPadding(info)
        && !RecordInfo.isInvalid(info)
        && !RecordInfo.isChunk(info)
        && !isEndOfChain
        && !voids.contains(at, info);
  }
}
