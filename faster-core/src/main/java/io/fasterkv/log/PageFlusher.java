package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.log.FlushedExtents.Extent;
import io.fasterkv.memory.Checksums;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes immutable bytes to the device and reports the address up to which the device has all
 * bytes. A few writes are under way at a time; they start in order and complete in any order. What
 * becomes immutable meanwhile joins one of the next writes, several pages together. An extent with
 * its checksum is still a page or a part of one. Writes that the device has no space for wait in
 * {@link RefusedWrites}.
 */
final class PageFlusher implements AutoCloseable {
  private static final int MAX_UNDER_WAY = 4;

  private final PageFrames frames;
  private final LogDevice device;
  private final FlushedExtents extents;
  private final LongConsumer flushedUntil;
  private final StoreFailure failure;
  private final RefusedWrites refused;

  /**
   * Extents that were written but not reported yet, because an earlier one is still under way; by
   * first address.
   */
  private final Map<Long, Extent> early = new HashMap<>();

  /** Ends of checkpoints and cuts: an extent ends there too. */
  private final ConcurrentSkipListSet<Long> cuts = new ConcurrentSkipListSet<>();

  private long immutableUntil;
  private long issuedUntil;
  private long reportedUntil;
  private int underWay;

  /** Whether immutable bytes are waiting for a write to end. */
  private boolean isQueued;

  /**
   * @param flushedUntil called, in order, with each address up to which the device has all bytes
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

  /** Writes that the device refused for lack of space. */
  RefusedWrites refused() {
    return refused;
  }

  /** Makes an extent end at {@code address}, which must not be immutable yet. */
  void endExtentAt(long address) {
    cuts.add(address);
  }

  /** Starts writing everything up to {@code address}; no thread changes these bytes any more. */
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

  /** The next write, or null if there is nothing to write now. */
  private synchronized @Nullable Write next() {
    long from = issuedUntil;
    long until = Math.min(immutableUntil, frames.runEnd(from));
    if (from >= until) {
      return null;
    }
    if (underWay >= MAX_UNDER_WAY || !refused.isEmpty()) {
      isQueued = true;
      return null;
    }
    Write write = new Write(from, until);
    underWay++;
    issuedUntil = until;
    return write;
  }

  /** Counts a write as ended; returns whether other bytes were waiting for that. */
  private synchronized boolean makeRoom() {
    underWay--;
    boolean wasQueued = isQueued;
    isQueued = false;
    return wasQueued;
  }

  /**
   * Like {@link #makeRoom}, but starts nothing now; the next successful write starts what was
   * waiting.
   */
  private synchronized void makeRoomLater() {
    underWay--;
    isQueued = true;
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

  /** Starts no more writes; those under way complete. */
  @Override
  public void close() {
    refused.close();
  }

  /**
   * A write of adjacent extents. If a device reports a write twice, the second report is ignored.
   * If a report fails, the write is never reported, so the store records that failure.
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
        makeRoomLater();
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
      // Start the next write first: it need not wait for the checksums.
      if (makeRoom()) {
        issue();
      }
      long reported = from;
      for (long at = from; at < until; ) {
        long end = Math.min(until, extentEnd(at));
        // The frame does not change until this extent is reported, so this reads what was written.
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
