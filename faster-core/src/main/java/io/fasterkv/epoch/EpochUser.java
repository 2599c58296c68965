package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.memory.StackReserve;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * A user of {@link Epochs}. Everything that it reads between {@link #protect} and {@link
 * #unprotect} stays valid. For one thread at a time. While it is unprotected, it may be passed to
 * another thread by any safe publication; protection itself belongs to the thread that called
 * {@link #protect}. Allocates nothing, except when its thread changes.
 */
public final class EpochUser implements AutoCloseable {
  private final Epochs epochs;
  private final WeakReference<EpochUser> self = new WeakReference<>(this);
  private int slot;

  /** The slot in which this user announces its epoch. */
  private long[] announced;

  private SlotOwner owner;

  /** The thread that owns the slot; null when this user is closed. */
  private @Nullable Thread thread;

  EpochUser(Epochs epochs) {
    this.epochs = epochs;
    Thread current = Thread.currentThread();
    owner = new SlotOwner(self, current);
    slot = epochs.claim(owner);
    announced = epochs.slot(slot);
    thread = current;
  }

  /**
   * Starts protection: what this user reads from now on stays valid until it refreshes or
   * unprotects. Calls do not nest.
   *
   * @throws StackOverflowError if the stack has no room to release what this user may claim; it is
   *     not protected then
   * @throws Closed if this user is closed
   * @throws io.fasterkv.api.StoreException.OutOfBudget if this user's former thread has ended, its
   *     slot was given to another user for that, and no slot is free now
   */
  @SuppressWarnings("ReferenceEquality") // A thread is identified by its object.
  public void protect() {
    StackReserve.requireForRelease(slot);
    if (thread != Thread.currentThread()) {
      takeOver();
    }
    epochs.protect(announced);
  }

  /**
   * Gives up everything read so far and continues in the current epoch. Call it on the thread that
   * called {@link #protect}.
   *
   * @throws IllegalStateException if called on another thread
   */
  public void refresh() {
    requireProtectable();
    epochs.refresh(announced);
  }

  /**
   * Ends protection. Call it on the thread that called {@link #protect}. An unprotected user delays
   * no other thread.
   *
   * @throws IllegalStateException if called on another thread
   */
  public void unprotect() {
    requireProtectable();
    epochs.unprotect(announced);
  }

  /** Frees the slot; this user can no longer protect. */
  @Override
  public void close() {
    if (thread != null) {
      thread = null;
      epochs.release(slot, owner);
    }
  }

  /** After a change of threads, the slot may belong to another user. */
  @SuppressWarnings("ReferenceEquality") // A thread is identified by its object.
  private void requireProtectable() {
    if (thread != Thread.currentThread()) {
      throw new IllegalStateException(
          "a user of the epochs unprotects or refreshes on another thread than it protected:"
              + " thread="
              + Thread.currentThread().getName()
              + ", allowed="
              + (thread == null ? "none, it is closed" : thread.getName()));
    }
  }

  private void takeOver() {
    if (thread == null) {
      throw new Closed("the user of the epochs is closed");
    }
    Thread current = Thread.currentThread();
    SlotOwner mine = new SlotOwner(self, current);
    if (!epochs.handOver(slot, owner, mine)) {
      slot = epochs.claim(mine);
      announced = epochs.slot(slot);
    }
    owner = mine;
    thread = current;
  }
}
