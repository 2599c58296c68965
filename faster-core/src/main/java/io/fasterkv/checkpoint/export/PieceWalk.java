package io.fasterkv.checkpoint.export;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.memory.Words;
import io.fasterkv.record.ForkRecord;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/** Iterates over the records of a piece of a log, and verifies every size. */
public final class PieceWalk {
  private final RecordLayout layout;

  /**
   * Receives everything that a walk finds: records with a key, whatever their state, chunks, and
   * forks.
   */
  public interface Visitor {
    /**
     * @param memory contains the record until this returns
     */
    void visit(long address, long info, MemorySegment memory, long record);
  }

  public PieceWalk(RecordLayout layout) {
    this.layout = layout;
  }

  RecordLayout layout() {
    return layout;
  }

  /**
   * Iterates over a piece.
   *
   * @param from the piece's first address
   * @param at address of a record in it, to start there
   * @param bytes the piece's bytes, aligned for words
   * @param place describes an address for an error message
   * @return the address after the last record: nothing follows on the page
   */
  long run(long from, long at, MemorySegment bytes, LongFunction<String> place, Visitor visitor) {
    long until = from + bytes.byteSize();
    long next = at;
    while (next < until) {
      long address = next;
      long record = address - from;
      long info = Words.loadPlain(bytes, record);
      if (!RecordInfo.isPresent(info)) {
        return address;
      }
      long size = size(info, bytes, record);
      if (size < RecordInfo.BYTES || size % Long.BYTES != 0 || size > until - address) {
        throw new Corrupt(
            "a record's size is out of range: size=" + size + ", " + place.apply(address));
      }
      if (!RecordInfo.isPadding(info)) {
        visitor.visit(address, info, bytes, record);
      }
      next = address + size;
    }
    return until;
  }

  /** Refuses a record with a key whose sizes are not consistent. */
  void checkSound(long address, MemorySegment bytes, long record, LongFunction<String> place) {
    long size = layout.recordBytes(bytes, record);
    if (!layout.isSound(bytes, record, size)) {
      throw new Corrupt(
          "a record's sizes do not fit each other: recordBytes="
              + size
              + ", "
              + place.apply(address));
    }
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
}
