package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import io.fasterkv.log.MemoryReserve;
import io.fasterkv.operation.core.Engine;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Makes room in a log that has no device. Page by page from the log's begin address, it copies live
 * records to the tail, which frees the page's frame. It first makes the page read-only, so that
 * copied records do not change; updates meanwhile go to the tail too, and are made in place there
 * afterwards. So only one page is ever read-only because of this. Runs while sessions continue; a
 * second compaction waits for the first.
 *
 * <p>It allocates everything it needs when it is created, so it works even if there is no free
 * scratch memory or epoch slot. It does not run during a resize of the index: a shrinkage has
 * reserved room for its forks, which must not be allocated between the copies.
 */
final class MemoryCompactor implements AutoCloseable {
  private final HybridLog log;
  private final MemoryReserve room;
  private final ReentrantLock sizeLock;
  private final Compactor compactor;
  private final Movers movers;

  MemoryCompactor(Engine engine, MemoryReserve room, Compactor compactor) {
    log = engine.log();
    this.room = room;
    sizeLock = engine.index().sizeLock();
    this.compactor = compactor;
    movers = new Movers(engine);
  }

  /** Compacts the log as it is now; returns the number of bytes by which its begin moved. */
  public long compact() {
    return compact(0, compactor::isStopped);
  }

  /**
   * Compacts the log as it is now, until it is at most {@code enoughBytes} long and has a free
   * page, or must end. Stops at a page that a cut, a scan or a history keeps, and at a large value
   * that is being written. Returns the number of bytes by which the begin address moved.
   */
  synchronized long compact(long enoughBytes, BooleanSupplier isToEnd) {
    long first = log.beginAddress();
    long end = log.tailAddress();
    boolean isOver = false;
    room.runBegins();
    try {
      while (!isOver && !isToEnd.getAsBoolean() && !room.isHeldUp()) {
        if (isEnough(enoughBytes) || !hasFullPage(end)) {
          isOver = true;
        } else {
          compactPage();
        }
      }
      compactor.cleanIndex();
    } finally {
      if (isOver) {
        room.runEnded(isEnough(enoughBytes));
      } else {
        room.runStopped();
      }
    }
    return log.beginAddress() - first;
  }

  @Override
  public void close() {
    movers.close();
  }

  private boolean isEnough(long bytes) {
    return log.lengthBytes() <= bytes && room.hasFreePage();
  }

  private boolean hasFullPage(long end) {
    long begin = log.beginAddress();
    return begin < end && begin < log.tailPageStart();
  }

  private void compactPage() {
    sizeLock.lock();
    try {
      long begin = log.beginAddress();
      // A truncation may have reached the tail's page while this waited.
      if (begin < log.tailPageStart()) {
        long end = log.pageEnd(begin);
        log.cuts().freeze(end);
        compactor.compactFrozen(end, movers);
      }
    } finally {
      sizeLock.unlock();
    }
  }
}
