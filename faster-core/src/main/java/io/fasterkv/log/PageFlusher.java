package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.FirstFailure;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what has become immutable to the device, a page or the rest of one at a time, and tells
 * how far the device has all bytes. Requests are issued in order and may complete in any order.
 */
final class PageFlusher {
  private final PageFrames frames;
  private final LogDevice device;
  private final FlushedExtents extents;
  private final LongConsumer flushedUntil;
  private final FirstFailure failure;

  /** Written but not yet reported, by first address: an earlier extent is still under way. */
  private final Map<Long, Extent> early = new HashMap<>();

  /** Where a checkpoint or a cut ends: an extent ends there too. */
  private final ConcurrentSkipListSet<Long> cuts = new ConcurrentSkipListSet<>();

  private long issuedUntil;
  private long reportedUntil;

  /**
   * @param flushedUntil told each time the device has all bytes up to an address, in order
   */
  PageFlusher(
      PageFrames frames,
      LogDevice device,
      FlushedExtents extents,
      long startAddress,
      LongConsumer flushedUntil,
      FirstFailure failure) {
    this.frames = frames;
    this.device = device;
    this.extents = extents;
    this.issuedUntil = startAddress;
    this.reportedUntil = startAddress;
    this.flushedUntil = flushedUntil;
    this.failure = failure;
  }

  /** Makes an extent end at {@code address}, which is not yet immutable. */
  void endExtentAt(long address) {
    cuts.add(address);
  }

  /** Starts to write all up to {@code address}; nobody changes these bytes any more. */
  void flushUntil(long address) {
    while (true) {
      long from;
      long until;
      synchronized (this) {
        from = issuedUntil;
        until = Math.min(Math.min(frames.pageEnd(from), address), nextCut(from));
        if (from >= until) {
          return;
        }
        issuedUntil = until;
        cuts.headSet(until, true).clear();
      }
      MemorySegment bytes = frames.slice(from, until);
      device.write(from, bytes, problem -> completed(from, until, bytes, problem));
    }
  }

  private long nextCut(long from) {
    Long cut = cuts.higher(from);
    return cut == null ? Long.MAX_VALUE : cut;
  }

  private void completed(
      long from, long until, MemorySegment bytes, @Nullable IOException problem) {
    if (problem != null) {
      failure.accept(
          new IOException("a page could not be written: " + device.place(from), problem));
      return;
    }
    // The frame stays as it is until this extent is reported, so this reads what was written.
    Extent extent = new Extent(from, until, Checksums.crc32c(bytes));
    flushedUntil.accept(report(extent));
  }

  private synchronized long report(Extent done) {
    early.put(done.from(), done);
    for (Extent next = early.remove(reportedUntil);
        next != null;
        next = early.remove(reportedUntil)) {
      extents.add(next);
      reportedUntil = next.until();
    }
    return reportedUntil;
  }
}
