package io.fasterkv.operation.session;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.version.Failures;
import io.fasterkv.operation.version.SessionVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The pending updates of one session. Each belongs to the version in which it was accepted and must
 * be in that version's checkpoint, although its session may be idle for any time. So the thread
 * that drives a version shift completes it on behalf of the session, and the session sees the
 * result at its next call.
 *
 * <p>The lock is held while the session's functions run if two threads could run them: by the
 * session in every attempt during a version shift, and when it runs functions outside an epoch; by
 * the driver while it completes pending updates. No thread waits for the lock inside an epoch, and
 * the session does not hold it while it waits for anything, since that may be one of its own
 * updates, which the driver must complete. So an update that the session is continuing is marked as
 * taken, and the driver returns to it later.
 */
final class PendingUpdates<I, O, C> implements SessionVersion.Pending {
  /** A session that completes updates on behalf of others. */
  interface Deputy<I, O, C> {
    /** Runs an update of another session to its end. */
    void runFor(Operation<I, O, C> op);

    void close();
  }

  private final Engine engine;
  private final Supplier<? extends Deputy<I, O, C>> deputies;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Operation<I, O, C>> listed;

  /** Updates that were accepted and have not ended; the last one may not be in the list yet. */
  private final AtomicInteger accepted = new AtomicInteger();

  /**
   * @param most maximum number of pending updates of the session
   * @param deputies creates a session with the same functions for the driver's thread
   */
  PendingUpdates(Engine engine, int most, Supplier<? extends Deputy<I, O, C>> deputies) {
    this.engine = engine;
    listed = new ArrayList<>(most);
    this.deputies = deputies;
  }

  boolean tryEnter() {
    return lock.tryLock();
  }

  /** Takes the lock; the caller must not be protected. */
  void enter() {
    lock.lock();
  }

  void leave() {
    lock.unlock();
  }

  /**
   * Counts an update that becomes pending, which is decided inside an epoch; {@link #list} follows.
   */
  void accept() {
    accepted.incrementAndGet();
  }

  /** Adds an accepted update to the list; the caller must have the lock. */
  void list(Operation<I, O, C> op) {
    listed.add(op);
  }

  /** Marks an update that the session continues, unless the driver has already ended it. */
  void take(Operation<I, O, C> op) {
    lock.lock();
    try {
      op.version.taken(true);
    } finally {
      lock.unlock();
    }
  }

  /** Unmarks an update that is still pending after the session has continued it. */
  void put(Operation<I, O, C> op) {
    lock.lock();
    try {
      op.version.taken(false);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes an accepted update that has ended, listed or not. Returns whether it was the last one.
   */
  boolean ended(Operation<I, O, C> op) {
    lock.lock();
    try {
      boolean wasListed = listed.remove(op);
      if (wasListed || op.version.acceptedIn() != 0) {
        op.version.unlatch();
        op.version.accepted(0);
        accepted.decrementAndGet();
      }
      return listed.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void latchAll(long version) {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "a pending update to be listed");
    while (!tryLatchAll(version)) {
      wait.pause();
    }
  }

  private boolean tryLatchAll(long version) {
    lock.lock();
    try {
      boolean areAll = listed.size() == accepted.get();
      for (Operation<I, O, C> op : listed) {
        boolean isToLatch =
            !op.version.isLatched()
                && !op.version.isHandedOver()
                && op.version.acceptedIn() == version;
        if (isToLatch) {
          var latch = engine.index().latch(op.hash);
          if (latch.tryShare()) {
            op.version.latched(latch, false);
          } else {
            areAll = false;
          }
        }
      }
      return areAll;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Completes updates of {@code version} and before, on the driver's thread, including those that
   * were accepted a moment ago and are not listed yet, and those that their session is continuing.
   */
  @Override
  public void endAll(long version, Failures failures) {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "a pending update to be released");
    while (!tryEndAll(version, failures)) {
      wait.pause();
    }
  }

  private boolean tryEndAll(long version, Failures failures) {
    @Nullable Deputy<I, O, C> deputy = null;
    lock.lock();
    try {
      boolean areAll = listed.size() == accepted.get();
      for (Operation<I, O, C> op : listed) {
        boolean isWanted = op.version.acceptedIn() <= version && !op.version.isHandedOver();
        if (isWanted && op.version.isTaken()) {
          areAll = false;
        } else if (isWanted) {
          if (deputy == null) {
            deputy = deputies.get();
          }
          RuntimeException failure = end(op, deputy);
          if (failure != null) {
            failures.add(op.serial);
          }
          op.version.handedOver(failure);
          op.version.unlatch();
        }
      }
      return areAll;
    } finally {
      lock.unlock();
      if (deputy != null) {
        deputy.close();
      }
    }
  }

  /**
   * Returns why the update failed, for its session to report. If the driver lacks memory, or after
   * an Error, the shift fails instead and the update stays pending.
   */
  private @Nullable RuntimeException end(Operation<I, O, C> op, Deputy<I, O, C> deputy) {
    try {
      deputy.runFor(op);
      return null;
    } catch (OutOfBudget e) {
      throw e;
    } catch (RuntimeException e) {
      return e;
    }
  }

  @Override
  public void releaseAll(long version) {
    lock.lock();
    try {
      for (Operation<I, O, C> op : listed) {
        if (op.version.acceptedIn() <= version) {
          op.version.unlatch();
          op.version.accepted(version + 1);
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
