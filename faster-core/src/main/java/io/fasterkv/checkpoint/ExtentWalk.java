package io.fasterkv.checkpoint;

import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * Goes over the records of a checkpoint that count, extent by extent in the order of their
 * addresses.
 */
final class ExtentWalk {
  private final PieceWalk walk;
  private final long pageBytes;
  private final ShownRecords shown;

  /** Nothing is wanted below: gaps at the ends of pages, and what lies below the begin. */
  private long skippedUntil;

  /**
   * @param manifest of what is walked over; its extents are not looked at
   */
  ExtentWalk(CheckpointManifest manifest) {
    walk = new PieceWalk(RecordLayout.of(manifest.shape().recordKind()));
    pageBytes = manifest.shape().pageBytes();
    shown = new ShownRecords(manifest);
    skippedUntil = manifest.cut().begin();
  }

  RecordLayout layout() {
    return walk.layout();
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
  void run(long from, MemorySegment bytes, LongFunction<String> place, PieceWalk.Visitor visitor) {
    long until = from + bytes.byteSize();
    if (until <= skippedUntil) {
      return;
    }
    long end =
        walk.run(
            from,
            Math.max(from, skippedUntil),
            bytes,
            place,
            (address, info, memory, record) -> {
              if (shown.has(address, info)) {
                walk.checkSound(address, memory, record, place);
                visitor.visit(address, info, memory, record);
              }
            });
    skippedUntil = end < until ? (from / pageBytes + 1) * pageBytes : until;
  }
}
