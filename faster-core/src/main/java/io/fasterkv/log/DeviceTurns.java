package io.fasterkv.log;

/**
 * The life of pages in a log with a device: the head moves after the flush, as the tail needs it.
 */
final class DeviceTurns extends PageTurns {
  private final PageFlusher flusher;

  DeviceTurns(LogParts parts, PageFlusher flusher) {
    super(parts);
    this.flusher = flusher;
  }

  @Override
  long mostMutable(long pages) {
    return pages - MIN_READ_ONLY_PAGES;
  }

  /** Half of the frames that may stay uncleared while the tail still has one. */
  @Override
  long clearedTogether() {
    long mostLeft = window().keptPages() - MIN_READ_ONLY_PAGES - mutablePages();
    return Math.min(spareFrames(), mostLeft) / 2;
  }

  @Override
  void becameImmutable(long address) {
    flusher.flushUntil(address);
  }

  /** Pages on the device wait only for other threads' epochs, whatever the device refuses. */
  @Override
  void roomWanted(long address) {
    if (frames().pageStart(frames().page(marks().flushed())) < address) {
      flusher.refused().roomWanted(address);
    }
  }

  /** Called when the device has all bytes up to an address. */
  void flushed(long address) {
    marks().advanceFlushed(address);
    moveHead();
  }

  /** Moves the head to keep frames free ahead of the tail, as far as pages are flushed. */
  @Override
  void moveHead() {
    long wanted = frames().pageStart(tailPage() + 2 + spareFrames() - window().keptPages());
    long possible = frames().pageStart(frames().page(marks().flushed()));
    long target = Math.min(wanted, possible);
    if (target > marks().head()) {
      marks().advanceHead(target);
    }
    announceHead(marks().head());
  }
}
