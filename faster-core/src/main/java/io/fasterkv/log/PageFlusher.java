package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.epoch.StoreFailure;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what has become immutable to the device and tells how far the device has all bytes. A few
 * writes are under way at a time, issued in order and complete in any order; what becomes immutable
 * in the meantime goes with one of the next, several pages together. An extent, with its checksum,
 * is a page or a part of one all the same. What the device has no space for waits in {@link
 * RefusedWrites}.
 */
final class PageFlusher implements AutoCloseable {
  private static final int MAX_UNDER_WAY = 4;

  private final PageFrames frames;
  private final LogDevice device;
  private final FlushedExtents extents;
  private final LongConsumer flushedUntil;
  private final StoreFailure failure;
  private final RefusedWrites refused;

  /** Written but not yet reported, by first address: an earlier extent is still under way. */
  private final Map<Long, Extent> early = new HashMap<>();

  /** Where a checkpoint or a cut ends: an extent ends there too. */
  private final ConcurrentSkipListSet<Long> cuts = new ConcurrentSkipListSet<>();

  private long immutableUntil;
  private long issuedUntil;
  private long reportedUntil;
  private int underWay;

  /** Whether something immutable waits for a write to end. */
  private boolean isHeldBack;

  /**
   * @param flushedUntil told each time the device has all bytes up to an address, in order
   */
  PageFlusher(
      PageFrames frames,
      LogDevice device,
      FlushedExtents extents,
      long startAddress,
      LongConsumer flushedUntil,
      StoreFailure failure) {
    this.frames = frames;
    this.device = device;
    this.extents = extents;
    this.immutableUntil = startAddress;
    this.issuedUntil = startAddress;
    this.reportedUntil = startAddress;
    this.flushedUntil = flushedUntil;
    this.failure = failure;
    refused = new RefusedWrites(device, failure, this::writeAgain);
  }

  /** What could not be written yet for want of space. */
  RefusedWrites refused() {
    return refused;
  }

  /** Makes an extent end at {@code address}, which is not yet immutable. */
  void endExtentAt(long address) {
    cuts.add(address);
  }

  /** Sees to it that all up to {@code address} is written; nobody changes these bytes any more. */
  void flushUntil(long address) {
    synchronized (this) {
      immutableUntil = Math.max(immutableUntil, address);
    }
    issue();
  }

  private void issue() {
    for (Write write = next(); write != null; write = next()) {
      start(write);
    }
  }

  private void start(Write write) {
    device.write(write.from, frames.slice(write.from, write.until), write);
  }

  private void writeAgain(long from, long until) {
    synchronized (this) {
      underWay++;
    }
    start(new Write(from, until));
  }

  /** The next write, or null when there is nothing to write now. */
  private synchronized @Nullable Write next() {
    long from = issuedUntil;
    long until = Math.min(immutableUntil, frames.runEnd(from));
    if (from >= until) {
      return null;
    }
    if (underWay >= MAX_UNDER_WAY || !refused.isEmpty()) {
      isHeldBack = true;
      return null;
    }
    Write write = new Write(from, until);
    underWay++;
    issuedUntil = until;
    return write;
  }

  /** Makes room for another write; returns whether something has waited for that. */
  private synchronized boolean makeRoom() {
    underWay--;
    boolean wasHeldBack = isHeldBack;
    isHeldBack = false;
    return wasHeldBack;
  }

  /** As {@link #makeRoom}, for nothing now; the next write that succeeds looks what has waited. */
  private synchronized void makeRoomInVain() {
    underWay--;
    isHeldBack = true;
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

  /** Starts no write any more; those under way end as they do. */
  @Override
  public void close() {
    refused.close();
  }

  /**
   * Some adjacent extents. If a device reports a write twice, the second report is ignored. If a
   * report fails, the write is never reported, so the store records that failure.
   */
  private final class Write implements LogDevice.Completion {
    private final long from;
    private final long until;
    private final AtomicBoolean isOver = new AtomicBoolean();

    Write(long from, long until) {
      this.from = from;
      this.until = until;
    }

    @Override
    public void completed(@Nullable IOException problem) {
      if (!isOver.compareAndSet(false, true)) {
        return;
      }
      try {
        ended(problem);
      } catch (Throwable e) {
        failure.accept(e);
      }
    }

    private void ended(@Nullable IOException problem) {
      if (problem instanceof NoSpaceException noSpace) {
        makeRoomInVain();
        refused.add(from, until, noSpace);
        return;
      }
      if (problem != null) {
        failure.accept(
            new IOException(
                "pages could not be written: "
                    + device.place(from)
                    + ", cause="
                    + problem.getMessage(),
                problem));
        return;
      }
      refused.written(from);
      // Others need not wait for the checksums.
      if (makeRoom()) {
        issue();
      }
      long reported = from;
      for (long at = from; at < until; ) {
        long end = Math.min(until, extentEnd(at));
        // The frame stays as it is until this extent is reported, so this reads what was written.
        int crc = Checksums.crc32c(frames.slice(at, end));
        reported = report(new Extent(at, end, crc));
        at = end;
      }
      cuts.subSet(from, true, until, true).clear();
      flushedUntil.accept(reported);
    }

    private long extentEnd(long at) {
      Long cut = cuts.higher(at);
      return Math.min(frames.pageEnd(at), cut == null ? Long.MAX_VALUE : cut);
    }
  }
}
