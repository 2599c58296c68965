package io.fasterkv.epoch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Trigger actions that wait for their epoch to become safe (SIGMOD'18, section 2.3).
 *
 * <p>Every bump of the epoch has one action, so the epoch's number is the action's place: the
 * action of epoch {@code e} waits in slot {@code e % capacity}. One thread at a time drains, in the
 * order of the epochs, and each action runs exactly once. An epoch that was claimed but whose
 * action is not yet in its slot stops the drain; the thread that puts it there drains after that,
 * so nothing is left behind.
 *
 * <p>An action may itself bump once. Half of the slots are kept for that: other threads see the
 * list as full when half of it is taken, so the drain can always go on.
 */
final class DrainList {
  static final int CAPACITY = 256;
  private static final int OPEN_TO_ALL = CAPACITY / 2;
  private static final long NOBODY = -1;

  private final AtomicReferenceArray<@Nullable Runnable> slots =
      new AtomicReferenceArray<>(CAPACITY);
  private final AtomicBoolean draining = new AtomicBoolean();
  private final AtomicLong drainedEpoch = new AtomicLong();
  private final Consumer<Throwable> failures;
  private volatile long drainerId = NOBODY;

  DrainList(Consumer<Throwable> failures) {
    this.failures = failures;
  }

  /** The newest epoch whose action has run, as have all before it. */
  long drainedEpoch() {
    return drainedEpoch.getAcquire();
  }

  /** Whether an action for {@code epoch} may be registered by this thread now. */
  boolean hasRoomFor(long epoch) {
    boolean isInAction = drainerId == Thread.currentThread().threadId();
    int allowed = isInAction ? CAPACITY : OPEN_TO_ALL;
    return epoch - drainedEpoch.getAcquire() <= allowed;
  }

  /** Publishes the action of an epoch that this thread has claimed. */
  void publish(long epoch, Runnable action) {
    // Volatile: the publisher then looks whether somebody drains, and the drainer, when it has let
    // go, whether something was published. With a weaker store both could miss the other.
    slots.set((int) (epoch % CAPACITY), action);
  }

  /** Whether the next action in order is there and its epoch is at most {@code safeEpoch}. */
  boolean isReady(long safeEpoch) {
    long next = drainedEpoch.getAcquire() + 1;
    return next <= safeEpoch && slots.getAcquire((int) (next % CAPACITY)) != null;
  }

  /**
   * Runs the actions that are ready. Returns false when another thread (or this one, further up) is
   * at it; that thread looks again after it has let go, so that nothing is left behind.
   */
  boolean tryDrain(long safeEpoch) {
    if (!draining.compareAndSet(false, true)) {
      return false;
    }
    drainerId = Thread.currentThread().threadId();
    try {
      while (isReady(safeEpoch)) {
        runNext();
      }
    } finally {
      drainerId = NOBODY;
      draining.set(false);
    }
    return true;
  }

  private void runNext() {
    long epoch = drainedEpoch.getAcquire() + 1;
    Runnable action = slots.getAndSet((int) (epoch % CAPACITY), null);
    try {
      if (action != null) {
        action.run();
      }
    } catch (RuntimeException | Error e) {
      failures.accept(e);
    } finally {
      drainedEpoch.setRelease(epoch);
    }
  }
}
