package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.stress.GuardedCell;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Broken epoch protection for one reader and one writer: the announcement is a release store, and
 * the epoch is not read again. The reader's loads may run before the scan can see the announcement.
 */
public final class LateAnnouncement {
  private static final long UNPROTECTED = 0;

  private final MemorySegment slot;
  private final AtomicLong currentEpoch = new AtomicLong(1);
  private final GuardedCell cell;
  private final BusyLines busy;
  private long actionOf;

  public LateAnnouncement(OffHeapArena arena) {
    slot = arena.allocate("slot", 128, 128);
    cell = new GuardedCell(arena);
    busy = new BusyLines(arena);
  }

  public LateAnnouncement reset() {
    cell.reset();
    return this;
  }

  public String read() {
    busy.store();
    Words.storeRelease(slot, 0, currentEpoch.getAcquire());
    String seen = cell.read();
    Words.storeRelease(slot, 0, UNPROTECTED);
    return seen;
  }

  public void hideAndFree() {
    cell.hide();
    actionOf = currentEpoch.getAndIncrement();
    drain();
    busy.store();
  }

  /** Frees the cell when the scan finds no user in an epoch up to the action's. */
  public void drain() {
    long announced = Words.loadVolatile(slot, 0);
    if (announced == UNPROTECTED || announced > actionOf) {
      cell.free();
    }
  }

  public boolean isFreed() {
    return cell.isFreed();
  }
}
