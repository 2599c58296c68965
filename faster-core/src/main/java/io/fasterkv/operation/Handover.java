package io.fasterkv.operation;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.epoch.EpochWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The updates of one session that are pending. Each belongs to the version in which it was
 * accepted, and must be in the checkpoint of that, although its session may not come by for as long
 * as it likes: so who drives the shift ends it in the session's place, and the session hears of it
 * when it next looks.
 *
 * <p>The lock is held by whoever runs the session's functions while that could be two threads: by
 * the session in every attempt while two versions are at work, and where it runs functions outside
 * an epoch; by the driver while it ends what is pending. Nobody waits for it under an epoch, and
 * the session does not keep it while it waits for anything: what it waits for may be an update of
 * its own that the driver is to end. So an update that the session is going on with is marked as
 * taken, and the driver comes back to it.
 */
final class Handover<I, O, C> {
  private final Engine engine;
  private final Supplier<SessionCore<I, O, C>> deputies;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Operation<I, O, C>> listed =
      new ArrayList<>(PendingOperations.MAX_PENDING + 1);

  /** How many were accepted and have not ended; the last one may not be listed yet. */
  private final AtomicInteger accepted = new AtomicInteger();

  /**
   * @param deputies makes a session with functions of the same kind, for the driver's thread
   */
  Handover(Engine engine, Supplier<SessionCore<I, O, C>> deputies) {
    this.engine = engine;
    this.deputies = deputies;
  }

  boolean tryEnter() {
    return lock.tryLock();
  }

  /** Waits for its turn; the caller is not protected. */
  void enter() {
    lock.lock();
  }

  void leave() {
    lock.unlock();
  }

  /** An update becomes pending, which is decided under an epoch; {@link #list} follows. */
  void accept() {
    accepted.incrementAndGet();
  }

  /** Shows an update that was accepted; the caller has entered. */
  void list(Operation<I, O, C> op) {
    listed.add(op);
  }

  /** The session begins to go on with an update; the driver has ended it already, or leaves it. */
  void take(Operation<I, O, C> op) {
    lock.lock();
    try {
      op.version.taken(true);
    } finally {
      lock.unlock();
    }
  }

  /** The update that the session was going on with is still pending. */
  void put(Operation<I, O, C> op) {
    lock.lock();
    try {
      op.version.taken(false);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Notes that an accepted update has ended, listed or not. Returns whether it was the last one.
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

  /** Takes the latches that updates of {@code version} have not, on the driver's thread. */
  void latchAll(long version) {
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
   * Ends updates of {@code version} and before, on the driver's thread, also those that were
   * accepted a moment ago and that their session has yet to list, or that it is going on with.
   *
   * @param failures receives the updates that fail
   */
  void endAll(long version, Failures failures) {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "a pending update to be let go");
    while (!tryEndAll(version, failures)) {
      wait.pause();
    }
  }

  private boolean tryEndAll(long version, Failures failures) {
    @Nullable SessionCore<I, O, C> deputy = null;
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
  private @Nullable RuntimeException end(Operation<I, O, C> op, SessionCore<I, O, C> deputy) {
    try {
      deputy.runFor(op);
      return null;
    } catch (OutOfBudget e) {
      throw e;
    } catch (RuntimeException e) {
      return e;
    }
  }

  /** Lets updates of {@code version} and before be of the next one. */
  void releaseAll(long version) {
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
