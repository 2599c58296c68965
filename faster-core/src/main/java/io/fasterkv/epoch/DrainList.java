package io.fasterkv.epoch;

import io.fasterkv.memory.StackReserve;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Trigger actions that wait for their epoch to become safe (SIGMOD'18, section 2.3).
 *
 * <p>Every bump of the epoch has one action, so the epoch's number is the action's place: the
 * action of epoch {@code e} waits in slot {@code e % capacity}. One thread at a time drains, in the
 * order of the epochs, and each action runs exactly once.
 *
 * <p>An epoch is claimed by the compare-and-set that publishes its action. So a thread that stops,
 * or runs out of stack or heap, never leaves an epoch without its action, which would stop the
 * drain for good. The compare-and-set expects the entry of epoch {@code e - capacity}, which stays
 * in its slot after it has run. A late thread finds another entry and publishes nothing.
 *
 * <p>An action may itself bump once. Half of the slots are kept for that: other threads see the
 * list as full when half of it is taken, so the drain can always go on.
 */
final class DrainList {
  static final int CAPACITY = 256;
  private static final int OPEN_TO_ALL = CAPACITY / 2;
  private static final long NOBODY = -1;
  private static final AtomicIntegerFieldUpdater<DrainList> DRAINING =
      AtomicIntegerFieldUpdater.newUpdater(DrainList.class, "draining");

  private final AtomicReferenceArray<@Nullable Entry> slots = new AtomicReferenceArray<>(CAPACITY);
  private final Consumer<Throwable> failures;

  /** 1 while a thread drains. */
  private volatile int draining;

  private volatile long drainedEpoch;
  private volatile long drainerId = NOBODY;

  /** An action and its epoch. */
  static final class Entry {
    private @Nullable Runnable action;
    private long epoch;

    Entry(Runnable action) {
      this.action = action;
    }
  }

  DrainList(Consumer<Throwable> failures) {
    this.failures = failures;
  }

  /** The newest epoch whose action has run, as have all before it. */
  long drainedEpoch() {
    return drainedEpoch;
  }

  /** Whether the calling thread is running an action. */
  boolean isInAction() {
    return drainerId == Thread.currentThread().threadId();
  }

  /** Whether an action for {@code epoch} may be registered by this thread now. */
  boolean hasRoomFor(long epoch) {
    int allowed = isInAction() ? CAPACITY : OPEN_TO_ALL;
    return epoch - drainedEpoch <= allowed;
  }

  /**
   * Claims {@code epoch} by publishing its action; returns false if another thread has claimed it.
   * The epoch is the current one, and the list has room for it.
   */
  boolean tryPublish(long epoch, Entry entry) {
    int slot = (int) (epoch % CAPACITY);
    Entry before = slots.get(slot);
    if (before != null && before.epoch != epoch - CAPACITY) {
      return false;
    }
    entry.epoch = epoch;
    // Volatile: the publisher then looks whether somebody drains, and the drainer, when it has let
    // go, whether something was published. With a weaker store both could miss the other.
    return slots.compareAndSet(slot, before, entry);
  }

  /** Whether an epoch was claimed. */
  boolean isPublished(long epoch) {
    Entry entry = slots.getAcquire((int) (epoch % CAPACITY));
    return entry != null && entry.epoch == epoch;
  }

  /** Whether the next action in order is there and its epoch is at most {@code safeEpoch}. */
  boolean isReady(long safeEpoch) {
    long next = drainedEpoch + 1;
    return next <= safeEpoch && isPublished(next);
  }

  /**
   * Runs the actions that are ready. Returns false when another thread (or this one, further up) is
   * at it; that thread looks again after it has let go, so that nothing is left behind.
   *
   * @throws StackOverflowError if the stack has no room for actions; nothing has changed then
   */
  boolean tryDrain(long safeEpoch) {
    if (draining != 0) {
      return false;
    }
    StackReserve.require();
    long self = Thread.currentThread().threadId();
    if (!DRAINING.compareAndSet(this, 0, 1)) {
      return false;
    }
    try {
      drainerId = self;
      while (isReady(safeEpoch)) {
        runNext();
      }
    } finally {
      // Plain assignments only, since a call could fail.
      drainerId = NOBODY;
      draining = 0;
    }
    return true;
  }

  private void runNext() {
    long epoch = drainedEpoch + 1;
    try {
      Entry entry = Objects.requireNonNull(slots.getAcquire((int) (epoch % CAPACITY)));
      Runnable action = Objects.requireNonNull(entry.action);
      entry.action = null;
      action.run();
    } catch (Throwable e) {
      failures.accept(e);
    } finally {
      drainedEpoch = epoch;
    }
  }
}
