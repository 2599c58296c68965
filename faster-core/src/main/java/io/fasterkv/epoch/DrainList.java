package io.fasterkv.epoch;

import io.fasterkv.memory.StackReserve;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The trigger actions that wait for their epoch to become safe (SIGMOD'18, section 2.3).
 *
 * <p>Every bump of the epoch has one action, so the epoch's number determines the action's slot:
 * the action of epoch {@code e} is in slot {@code e % capacity}. One thread at a time drains the
 * list, in epoch order, and each action runs exactly once.
 *
 * <p>A thread claims an epoch with the compare-and-set that publishes its action. Therefore a
 * thread that is stopped, or runs out of stack or heap, can at no moment leave an epoch without its
 * action, which would stop the drain for good. The compare-and-set expects the entry of epoch
 * {@code e - capacity}, which stays in its slot after it has run. A thread that is too late finds
 * another entry and publishes nothing.
 *
 * <p>An action may itself bump once. Half of the slots are reserved for that: other threads see the
 * list as full when half of it is used, so the drain can always continue.
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

  /** An action, the epoch that it was published for, and what it threw. */
  static final class Entry {
    private @Nullable Runnable action;
    private @Nullable Throwable failure;
    private long epoch;

    Entry(Runnable action) {
      this.action = action;
    }
  }

  DrainList(Consumer<Throwable> failures) {
    this.failures = failures;
  }

  /** The newest epoch whose action has run, after all earlier ones. */
  long drainedEpoch() {
    return drainedEpoch;
  }

  /** Whether the calling thread is running an action. */
  boolean isInAction() {
    return drainerId == Thread.currentThread().threadId();
  }

  /** Whether the calling thread may register an action for {@code epoch} now. */
  boolean hasRoomFor(long epoch) {
    int allowed = isInAction() ? CAPACITY : OPEN_TO_ALL;
    return epoch - drainedEpoch <= allowed;
  }

  /**
   * Claims {@code epoch}, which is current and has room, by publishing its action; returns false if
   * another thread has claimed it.
   */
  boolean tryPublish(long epoch, Entry entry) {
    int slot = (int) (epoch % CAPACITY);
    Entry before = slots.get(slot);
    if (before != null && before.epoch != epoch - CAPACITY) {
      return false;
    }
    entry.epoch = epoch;
    // Volatile: after publishing, the publisher checks whether a thread drains; after it stops, the
    // drainer checks whether an action was published. With a weaker store both could miss the
    // other.
    return slots.compareAndSet(slot, before, entry);
  }

  /** Whether a thread has claimed this epoch. */
  boolean isPublished(long epoch) {
    Entry entry = slots.getAcquire((int) (epoch % CAPACITY));
    return entry != null && entry.epoch == epoch;
  }

  /** Whether the action of an entry that the caller has published is over, even if it failed. */
  boolean isOver(Entry published) {
    return published.epoch <= drainedEpoch;
  }

  /** What the action of an entry that is over threw; null if it ended normally. */
  static @Nullable Throwable failure(Entry over) {
    return over.failure;
  }

  /** Whether the next action in order is published and its epoch is at most {@code safeEpoch}. */
  boolean isReady(long safeEpoch) {
    long next = drainedEpoch + 1;
    return next <= safeEpoch && isPublished(next);
  }

  /**
   * Runs the actions that are ready. Returns false if another thread is draining, or this thread is
   * already inside a drain. That drain checks again after it has stopped, so no action is missed.
   *
   * @throws StackOverflowError if the stack has no room for actions; nothing has been done then
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
      // Plain assignments: there is no call that could fail.
      drainerId = NOBODY;
      draining = 0;
    }
    return true;
  }

  private void runNext() {
    long epoch = drainedEpoch + 1;
    Entry entry = Objects.requireNonNull(slots.getAcquire((int) (epoch % CAPACITY)));
    try {
      Runnable action = Objects.requireNonNull(entry.action);
      entry.action = null;
      action.run();
    } catch (Throwable e) {
      entry.failure = e;
      failures.accept(e);
    } finally {
      drainedEpoch = epoch;
    }
  }
}
