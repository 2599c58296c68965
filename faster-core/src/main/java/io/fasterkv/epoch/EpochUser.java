package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.Closed;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * One user of {@link Epochs}. Between {@link #protect} and {@link #unprotect}, what it has read
 * stays valid. Used by one thread at a time. While it is unprotected it may be handed to another
 * thread in any way that publishes it safely; protection itself belongs to the thread that asked
 * for it. Allocates nothing, except when its thread changes.
 */
public final class EpochUser implements AutoCloseable {
  private final Epochs epochs;
  private final WeakReference<EpochUser> self = new WeakReference<>(this);
  private int slot;

  /** Where the epoch is announced. */
  private AtomicLongArray announced;

  private SlotOwner owner;

  /** Whose the slot is; null when this user is closed. */
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
   * From now on, what this user reads stays valid until it refreshes or leaves. Not nested.
   *
   * @throws Closed if this user is closed
   * @throws io.fasterkv.api.StoreException.OutOfBudget if this user's former thread has ended, its
   *     slot was given to another user for that, and no slot is free now
   */
  @SuppressWarnings("ReferenceEquality") // Threads have no other identity.
  public void protect() {
    if (thread != Thread.currentThread()) {
      takeOver();
    }
    epochs.protect(announced);
  }

  /** Lets go of everything read so far and goes on in the current epoch; on the same thread. */
  public void refresh() {
    requireProtectable();
    epochs.refresh(announced);
  }

  /** Lets go of everything, on the same thread; an unprotected user holds nobody up. */
  public void unprotect() {
    requireProtectable();
    epochs.unprotect(announced);
  }

  /** Gives the slot up; this user protects nothing any more. */
  @Override
  public void close() {
    if (thread != null) {
      thread = null;
      epochs.release(slot, owner);
    }
  }

  /** On another thread the slot may be somebody else's by now. */
  @SuppressWarnings("ReferenceEquality")
  private void requireProtectable() {
    if (thread != Thread.currentThread()) {
      throw new IllegalStateException(
          "a user of the epochs leaves on another thread than it came: thread="
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
