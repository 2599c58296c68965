package io.fasterkv.epoch;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a slot in the epoch table: a user, and the thread on which it protects itself. A new
 * object is created each time a slot is taken or its thread changes, so that a compare-and-set on
 * the slot's owner distinguishes these times.
 *
 * <p>An owner is abandoned when its thread has ended or when the user is unreachable. Then no
 * thread can announce an epoch in the slot: a user announces only on its owner's thread, and on any
 * other thread it first puts a new owner into the slot. A thread takes the slot back by a
 * compare-and-set on the abandoned owner. If the user resumes on another thread at the same time,
 * one of the two wins; if the user loses, it takes another slot. The slot of a live thread is never
 * taken.
 */
final class SlotOwner {
  /** Owns a slot while it is being freed. */
  static final SlotOwner NOBODY = new SlotOwner();

  private final @Nullable WeakReference<?> user;
  private final @Nullable WeakReference<Thread> thread;

  SlotOwner(WeakReference<?> user, Thread thread) {
    this.user = user;
    this.thread = new WeakReference<>(thread);
  }

  private SlotOwner() {
    user = null;
    thread = null;
  }

  boolean isAbandoned() {
    if (user == null || thread == null) {
      return false;
    }
    Thread referent = thread.get();
    // An unreachable thread is not alive, or is a virtual one that can never continue.
    return user.refersTo(null) || referent == null || !referent.isAlive();
  }

  boolean isOn(Thread one) {
    return thread != null && thread.refersTo(one);
  }

  String describeThread() {
    Thread referent = thread == null ? null : thread.get();
    return referent == null
        ? "a thread that has ended"
        : referent.getName() + " (id " + referent.threadId() + ", " + referent.getState() + ")";
  }
}
