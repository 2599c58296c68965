package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Epoch protection with trigger actions (SIGMOD'18, sections 2.3 and 2.4).
 *
 * <p>A user owns a slot and protects it around each burst of accesses. A change that others must
 * not act upon too early is made in two steps: publish the new state, then {@link #bump} with an
 * action; the action runs once every user that may have seen the old state has left or refreshed.
 * An idle slot is unprotected and holds nobody up.
 *
 * <p>What each side may observe. Protecting announces the epoch with a full fence and then reads
 * the current epoch again: without the fence, the loads that follow could run before the
 * announcement is visible, see a state from before some bump, and use memory that the bump's action
 * has freed, since its scan found the slot empty. A scan reads the current epoch and then the slots
 * with volatile loads: if it reads epoch {@code e + 1}, then every user that still read {@code e}
 * has announced before. A refresh may announce with a release store: until that is visible the slot
 * shows an older epoch, which protects more, and the loads that follow come after the acquiring
 * load of the current epoch. Leaving is a release store, so that no access is moved behind it; an
 * action that becomes ready by it is run by the next user that comes by, or by whoever waits for it
 * and calls {@link #drain()}.
 */
public final class Epochs {
  private static final long SLOT_BYTES = 128;
  private static final long ANNOUNCED = 0;
  private static final long OWNED = 64;
  private static final long UNPROTECTED = 0;
  private static final long FREE = 0;
  private static final long TAKEN = 1;

  private final MemorySegment table;
  private final int slots;
  private final AtomicLong currentEpoch = new AtomicLong(1);
  private final AtomicInteger slotsEverUsed = new AtomicInteger();
  private final DrainList drainList;

  /**
   * @param slots how many users there may be at a time
   * @param failures told of anything an action throws; the actions after it run all the same
   */
  public Epochs(OffHeapArena arena, int slots, Consumer<Throwable> failures) {
    this.table = arena.allocate("epoch table", slots * SLOT_BYTES, SLOT_BYTES);
    this.slots = slots;
    this.drainList = new DrainList(failures);
  }

  /** Reserves a slot, unprotected. */
  public int acquireSlot() {
    for (int slot = 0; slot < slots; slot++) {
      if (Words.compareAndSet(table, slot * SLOT_BYTES + OWNED, FREE, TAKEN)) {
        int used = slot + 1;
        slotsEverUsed.accumulateAndGet(used, Math::max);
        return slot;
      }
    }
    throw new OutOfBudget(
        "no place is free in the epoch table: slots="
            + slots
            + "; close sessions and scans, or raise"
            + " maxSessions");
  }

  /** Gives a slot back; it must be unprotected. */
  public void releaseSlot(int slot) {
    Words.storeRelease(table, slot * SLOT_BYTES + ANNOUNCED, UNPROTECTED);
    Words.storeRelease(table, slot * SLOT_BYTES + OWNED, FREE);
  }

  /** From now on, what this user reads stays valid until it refreshes or leaves. */
  public void protect(int slot) {
    long announced = slot * SLOT_BYTES + ANNOUNCED;
    long epoch = currentEpoch.getAcquire();
    while (true) {
      Words.storeVolatile(table, announced, epoch);
      long again = currentEpoch.get();
      if (again == epoch) {
        break;
      }
      epoch = again;
    }
    drainIfBehind(epoch);
  }

  /** Lets go of everything read so far and goes on in the current epoch. */
  public void refresh(int slot) {
    long epoch = currentEpoch.get();
    Words.storeRelease(table, slot * SLOT_BYTES + ANNOUNCED, epoch);
    drainIfBehind(epoch);
  }

  /** Lets go of everything; an unprotected user holds nobody up. */
  public void unprotect(int slot) {
    Words.storeRelease(table, slot * SLOT_BYTES + ANNOUNCED, UNPROTECTED);
  }

  /**
   * Moves to the next epoch and registers an action for the time when no user is in an earlier one;
   * it may run before this method returns. Returns false, with nothing done, when too many actions
   * are waiting: a protected caller then refreshes and comes again.
   */
  public boolean tryBump(Runnable action) {
    long epoch;
    do {
      epoch = currentEpoch.get();
      if (!drainList.hasRoomFor(epoch)) {
        drain();
        return false;
      }
    } while (!currentEpoch.compareAndSet(epoch, epoch + 1));
    drainList.publish(epoch, action);
    drain();
    return true;
  }

  /** As {@link #tryBump}, for callers that are not protected: waits for room. */
  public void bump(Runnable action) {
    while (!tryBump(action)) {
      Thread.onSpinWait();
    }
  }

  /** Runs the actions that are ready. Whoever waits for an action calls this again and again. */
  public void drain() {
    long safe = safeEpoch();
    while (drainList.isReady(safe) && drainList.tryDrain(safe)) {
      safe = safeEpoch();
    }
  }

  /** The epoch that a user who protects now gets. */
  public long currentEpoch() {
    return currentEpoch.getAcquire();
  }

  /** The newest epoch in which there is no user any more, nor in any before it. */
  public long safeEpoch() {
    long safe = currentEpoch.get() - 1;
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      long announced = Words.loadVolatile(table, slot * SLOT_BYTES + ANNOUNCED);
      if (announced != UNPROTECTED && announced <= safe) {
        safe = announced - 1;
      }
    }
    return safe;
  }

  private void drainIfBehind(long epoch) {
    if (drainList.drainedEpoch() < epoch - 1) {
      drain();
    }
  }
}
