package io.fasterkv.checkpoint.export;

import io.fasterkv.checkpoint.manifest.CheckpointManifest;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * Iterates over the valid records of a checkpoint, extent by extent in the order of their
 * addresses.
 */
public final class ExtentWalk {
  private final PieceWalk walk;
  private final long pageBytes;
  private final ShownRecords shown;

  /**
   * Everything below this address is skipped: gaps at the ends of pages, and what is below the
   * begin.
   */
  private long skippedUntil;

  /**
   * @param manifest the checkpoint's manifest; its extents are not used
   */
  public ExtentWalk(CheckpointManifest manifest) {
    walk = new PieceWalk(RecordLayout.of(manifest.shape().recordKind()));
    pageBytes = manifest.shape().pageBytes();
    shown = new ShownRecords(manifest);
    skippedUntil = manifest.cut().begin();
  }

  RecordLayout layout() {
    return walk.layout();
  }

  /** Whether any part of the next extent is needed. */
  public boolean isWanted(long until) {
    return until > skippedUntil;
  }

  /**
   * Iterates over an extent from {@code from} on.
   *
   * @param place describes an address for an error message
   */
  public void run(
      long from, MemorySegment bytes, LongFunction<String> place, PieceWalk.Visitor visitor) {
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
