package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import io.fasterkv.log.MemoryRoom;
import io.fasterkv.operation.Engine;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Makes room in a log that has no device: page by page from its begin, what is live is rolled to
 * the tail, and the frame is free. A page is made read-only before, so that what is copied does not
 * change; what is updated meanwhile goes to the tail too, and after that in place again. So only
 * one page is ever read-only because of this. Runs beside any number of sessions; a second
 * compaction waits for the first.
 *
 * <p>What it needs for that it has from the beginning, so a store without free scratch memory or
 * places in the epoch table is compacted as well. Not beside a resize of the index: a shrinkage has
 * reserved room for its forks, which must not lie between records that are packed.
 */
public final class MemoryCompactor implements AutoCloseable {
  private final HybridLog log;
  private final MemoryRoom room;
  private final ReentrantLock sizeLock;
  private final Compactor compactor;
  private final Movers movers;

  public MemoryCompactor(Engine engine, Compactor compactor) {
    log = engine.log();
    room = log.room();
    sizeLock = engine.index().sizeLock();
    this.compactor = compactor;
    movers = new Movers(engine);
  }

  /** Goes over the log as it is now; returns how many bytes of it were let go of. */
  public long compact() {
    return pass(0, compactor::isStopped);
  }

  /**
   * Goes over the log as it is now, until it is at most {@code enoughBytes} long and has a free
   * page, or is to end. Stops at what a cut, a scan or a history keeps, and at a large value that
   * is being written. Returns how many bytes of the log were let go of.
   */
  synchronized long pass(long enoughBytes, BooleanSupplier isToEnd) {
    long first = log.beginAddress();
    long end = log.tailAddress();
    boolean isOver = false;
    room.passBegins();
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
        room.passEnded(isEnough(enoughBytes));
      } else {
        room.passStopped();
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
      // A truncation may have come to the tail's page while this waited.
      if (begin < log.tailPageStart()) {
        long end = log.pageEnd(begin);
        log.freeze(end);
        compactor.compactFrozen(end, movers);
      }
    } finally {
      sizeLock.unlock();
    }
  }
}
