package io.fasterkv.epoch;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Who has a slot of the epoch table: a user, and the thread it protects itself on. One object for
 * each time that a slot is taken or changes its thread, so that a compare-and-set on the slot's
 * owner tells these times apart.
 *
 * <p>An owner is gone when its thread has ended or when nobody refers to the user any more. Then
 * nobody can announce an epoch in the slot: a user announces only on the thread of its owner, and
 * on any other thread it first puts a new owner into the slot. Whoever takes the slot back does so
 * by a compare-and-set on the owner that was found gone. So of a user that comes back to life on
 * another thread and somebody who takes its slot, one wins; if that is the latter, the user takes
 * another slot. The slot of a live thread is never taken.
 */
final class SlotOwner {
  /** Has a slot while it is being freed. */
  static final SlotOwner NOBODY = new SlotOwner();

  private final @Nullable WeakReference<EpochUser> user;
  private final @Nullable WeakReference<Thread> thread;

  SlotOwner(WeakReference<EpochUser> user, Thread thread) {
    this.user = user;
    this.thread = new WeakReference<>(thread);
  }

  private SlotOwner() {
    user = null;
    thread = null;
  }

  boolean isGone() {
    if (user == null || thread == null) {
      return false;
    }
    Thread referent = thread.get();
    // A thread that nobody refers to is not alive, or is a virtual one that can never go on.
    return user.refersTo(null) || referent == null || !referent.isAlive();
  }

  String describeThread() {
    Thread referent = thread == null ? null : thread.get();
    return referent == null
        ? "a thread that has ended"
        : referent.getName() + " (id " + referent.threadId() + ", " + referent.getState() + ")";
  }
}
