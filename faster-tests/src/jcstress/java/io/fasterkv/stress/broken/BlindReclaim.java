package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.stress.GuardedCell;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Epoch protection with a broken reclaim: it checks whether the slot's thread has ended, and then
 * empties the slot without checking that it still has the same owner.
 */
public final class BlindReclaim {
  private static final long UNPROTECTED = 0;
  private static final int LOOKS = 64;

  private final MemorySegment slot;
  private final AtomicLong currentEpoch = new AtomicLong(1);
  private final AtomicBoolean isOwnerDead = new AtomicBoolean();
  private final GuardedCell cell;

  public BlindReclaim(OffHeapArena arena) {
    slot = arena.allocate("slot", 128, 128);
    cell = new GuardedCell(arena);
  }

  /** Makes the slot one that belongs to a thread that has ended. */
  public BlindReclaim reset() {
    cell.reset();
    isOwnerDead.set(true);
    return this;
  }

  /** A live thread takes over the user and reads. */
  public String read() {
    isOwnerDead.set(false);
    Words.storeVolatile(slot, 0, currentEpoch.get());
    String seen = cell.read();
    Words.storeRelease(slot, 0, UNPROTECTED);
    return seen;
  }

  public void hideReclaimAndFree() {
    boolean wasOwnerDead = isOwnerDead.get();
    lookAround();
    cell.hide();
    if (wasOwnerDead) {
      Words.storeVolatile(slot, 0, UNPROTECTED);
    }
    long actionOf = currentEpoch.getAndIncrement();
    long announced = Words.loadVolatile(slot, 0);
    if (announced == UNPROTECTED || announced > actionOf) {
      cell.free();
    }
  }

  /** Examines other words for a while, so that a live thread can take over the slot meanwhile. */
  private void lookAround() {
    for (int look = 0; look < LOOKS; look++) {
      Words.loadAcquire(slot, 0);
    }
  }
}
