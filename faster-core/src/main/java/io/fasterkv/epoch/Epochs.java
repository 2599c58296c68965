package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.memory.StackReserve;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Epoch protection with trigger actions (SIGMOD'18, sections 2.3 and 2.4), for any data that some
 * threads read while others take it away.
 *
 * <p>A {@linkplain EpochUser user} protects itself around each burst of accesses. A change that
 * others must not act upon too early is made in two steps: publish the new state, then {@link
 * #bump} with an action; the action runs once every user that may have seen the old state has left
 * or refreshed. Actions run exactly once, in the order of their epochs, one at a time, on whatever
 * thread comes by. An idle user is unprotected and holds nobody up. All methods are safe for all
 * threads.
 *
 * <pre>{@code
 * Epochs epochs = new Epochs(64, problem -> log.error("an action failed", problem));
 *
 * // A reader, on its own thread:
 * try (EpochUser reader = epochs.register()) {
 *   reader.protect();
 *   try {
 *     use(current.get());            // whatever is loaded here stays valid until unprotect
 *   } finally {
 *     reader.unprotect();
 *   }
 * }
 *
 * // A writer, on any thread that is not protected:
 * Table old = current.getAndSet(replacement);
 * epochs.bump(old::free);            // when nobody can be reading it any more
 * }</pre>
 *
 * <p>What each side may observe. Protecting announces the epoch with a volatile store and then
 * loads the current epoch again, volatile too: if some scan came before the store and found the
 * slot empty, the load comes after that scan's bump, and so does all that follows it. Without that
 * order, the loads that follow could see a state from before the bump and use memory that its
 * action has freed. The epoch that is announced may be older than the one that is loaded again,
 * even older than actions that have run: it then protects more than it must. A scan reads the
 * current epoch and then the slots with volatile loads. A refresh may announce with a release
 * store: until that is visible the slot shows an older epoch, which protects more, and the loads
 * that follow come after the acquiring load of the current epoch. Leaving is a release store, so
 * that no access is moved behind it; an action that becomes ready by it is run by the next user
 * that comes by, or by whoever waits for it and calls {@link #drain()}.
 *
 * <p>A user that is gone, because its thread has ended or because nobody refers to it any more,
 * loses its slot as soon as somebody is held up by it; see {@link SlotOwner}.
 */
public final class Epochs {
  private static final long UNPROTECTED = 0;

  /** Where the announcement is in its slot, alone in its cache lines: many read it. */
  private static final int AT = 128 / Long.BYTES;

  /** Slots are looked through for users that are gone after as many drains that got nowhere. */
  private static final int FRUITLESS_DRAINS = 1024;

  private final AtomicLongArray[] slots;
  private final AtomicLong currentEpoch = new AtomicLong(1);
  private final AtomicInteger slotsEverUsed = new AtomicInteger();
  private final AtomicReferenceArray<@Nullable SlotOwner> owners;
  private final DrainList drainList;

  /** Counts without a fence: it only spaces out something that may happen at any time. */
  private int fruitlessDrains;

  private volatile Reports reports = Reports.toLog();

  /**
   * @param slots how many users there may be at a time, 1 and above; a few hundred bytes each
   * @param failures told of anything an action throws; the actions after it run all the same
   */
  public Epochs(int slots, Consumer<Throwable> failures) {
    this.slots = new AtomicLongArray[slots];
    for (int slot = 0; slot < slots; slot++) {
      this.slots[slot] = new AtomicLongArray(2 * AT + 1);
    }
    this.owners = new AtomicReferenceArray<>(slots);
    this.drainList = new DrainList(failures);
  }

  /**
   * Reserves a slot for a new user, unprotected, whose thread is the calling one.
   *
   * @throws OutOfBudget if all slots are taken, by users that are not gone
   */
  public EpochUser register() {
    return new EpochUser(this);
  }

  /**
   * Moves to the next epoch and registers an action for the time when no user is in an earlier one;
   * it may run before this method returns. Returns false, with nothing done, when too many actions
   * are waiting: a protected caller then refreshes and tries again.
   *
   * <p>If a thread fails here because it runs out of stack or heap, its action is either registered
   * or not. If it is, other threads move the epoch on.
   */
  public boolean tryBump(Runnable action) {
    if (!drainList.isInAction()) {
      StackReserve.require();
    }
    DrainList.Entry entry = new DrainList.Entry(action);
    for (boolean isRegistered = false; !isRegistered; ) {
      long epoch = currentEpoch.get();
      if (!drainList.hasRoomFor(epoch)) {
        drain();
        return false;
      }
      isRegistered = drainList.tryPublish(epoch, entry);
      // If another thread has claimed the epoch, this moves it on for that thread.
      currentEpoch.compareAndSet(epoch, epoch + 1);
    }
    drain();
    return true;
  }

  /** As {@link #tryBump}, for callers that are not protected: waits for room. */
  public void bump(Runnable action) {
    if (tryBump(action)) {
      return;
    }
    EpochWait wait = new EpochWait(this, () -> "room for a trigger action");
    while (!tryBump(action)) {
      wait.pause();
    }
  }

  /**
   * Runs {@code action} when no user is in an epoch that has begun before, and returns after that;
   * for callers that are not protected.
   *
   * @param purpose what is waited for, in words that follow "waiting for"
   * @throws IllegalStateException with what the action has thrown, which is told as a failure, too
   */
  public void await(Runnable action, Supplier<String> purpose) {
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    bump(() -> {
      try {
        action.run();
      } catch (RuntimeException | Error e) {
        thrown.setPlain(e);
        throw e;
      } finally {
        isOver.setRelease(true);
      }
    });
    EpochWait wait = new EpochWait(this, purpose);
    while (!isOver.getAcquire()) {
      wait.pause();
    }
    if (thrown.getPlain() != null) {
      throw new IllegalStateException("waiting for " + purpose.get(), thrown.getPlain());
    }
  }

  /** Runs the actions that are ready. Whoever waits for an action calls this again and again. */
  public void drain() {
    long epoch = currentEpoch.get();
    if (drainList.isPublished(epoch)) {
      // The thread that claimed the epoch may have stopped before it did this.
      currentEpoch.compareAndSet(epoch, epoch + 1);
    }
    drainReady();
    boolean isHeldUp = drainList.drainedEpoch() < currentEpoch.get() - 1;
    if (isHeldUp && ++fruitlessDrains % FRUITLESS_DRAINS == 0 && reclaim() > 0) {
      drainReady();
    }
  }

  /**
   * Takes the slots of users back that are gone. Nobody needs to call this: those who are held up
   * by such a user, or find no free slot, do. Returns how many slots that were.
   */
  public int reclaim() {
    int reclaimed = 0;
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      if (owner != null && owner.isGone() && release(slot, owner)) {
        reclaimed++;
      }
    }
    return reclaimed;
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
      long announced = announced(slot);
      if (announced != UNPROTECTED && announced <= safe) {
        safe = announced - 1;
      }
    }
    return safe;
  }

  /**
   * A user that is protected in an earlier epoch than the current one.
   *
   * @param slot its place in the table
   * @param thread name and state of its thread
   * @param epoch what it is protected in
   */
  public record Holder(int slot, String thread, long epoch) {}

  /** Those who hold up actions at this moment, the oldest first. */
  public List<Holder> holders() {
    long current = currentEpoch();
    List<Holder> holders = new ArrayList<>();
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      long announced = announced(slot);
      if (owner != null && announced != UNPROTECTED && announced < current) {
        holders.add(new Holder(slot, owner.describeThread(), announced));
      }
    }
    holders.sort(Comparator.comparingLong(Holder::epoch));
    return holders;
  }

  /** Tells {@code sink} instead of the log who holds a wait up, and after how long. */
  public void reportWaits(long afterNanos, Consumer<String> sink) {
    reports = new Reports(afterNanos, sink);
  }

  Reports reports() {
    return reports;
  }

  /** When and whom a wait tells that it is held up. */
  record Reports(long afterNanos, Consumer<String> sink) {
    private static final long AFTER_NANOS = 5_000_000_000L;

    static Reports toLog() {
      return new Reports(
          AFTER_NANOS, text -> System.getLogger("io.fasterkv").log(Level.WARNING, text));
    }
  }

  /** Announces the current epoch in a slot; nobody else writes there. */
  void protect(AtomicLongArray slot) {
    slot.set(AT, currentEpoch.getAcquire());
    try {
      drainIfBehind(currentEpoch.get());
    } catch (Throwable e) {
      // The caller assumes that it is unprotected.
      slot.set(AT, UNPROTECTED);
      throw e;
    }
  }

  void refresh(AtomicLongArray slot) {
    long epoch = currentEpoch.get();
    slot.setRelease(AT, epoch);
    drainIfBehind(epoch);
  }

  void unprotect(AtomicLongArray slot) {
    slot.setRelease(AT, UNPROTECTED);
  }

  /** Where a slot's owner announces its epoch. */
  AtomicLongArray slot(int slot) {
    return slots[slot];
  }

  /** Puts an owner into a free slot. */
  int claim(SlotOwner owner) {
    int slot = tryClaim(owner);
    if (slot < 0 && reclaim() > 0) {
      slot = tryClaim(owner);
    }
    if (slot < 0) {
      throw new OutOfBudget(
          "no place is free in the epoch table: slots="
              + slots.length
              + "; close sessions and scans, or raise"
              + " maxSessions");
    }
    return slot;
  }

  /** Puts another owner into a slot; false if the slot is not the first one's any more. */
  boolean handOver(int slot, SlotOwner from, SlotOwner to) {
    return owners.compareAndSet(slot, from, to);
  }

  /** Frees a slot; false if it is not this owner's any more. */
  boolean release(int slot, SlotOwner owner) {
    // Between these two stores nobody has the slot, so no announcement is wiped out.
    if (!owners.compareAndSet(slot, owner, SlotOwner.NOBODY)) {
      return false;
    }
    unprotect(slots[slot]);
    owners.setRelease(slot, null);
    return true;
  }

  private int tryClaim(SlotOwner owner) {
    for (int slot = 0; slot < slots.length; slot++) {
      if (owners.getAcquire(slot) == null) {
        // This comes before the slot is taken, after which nothing may fail.
        slotsEverUsed.accumulateAndGet(slot + 1, Math::max);
        if (owners.compareAndSet(slot, null, owner)) {
          return slot;
        }
      }
    }
    return -1;
  }

  private long announced(int slot) {
    return slots[slot].get(AT);
  }

  private void drainIfBehind(long epoch) {
    if (drainList.drainedEpoch() < epoch - 1) {
      drain();
    }
  }

  private void drainReady() {
    long safe = safeEpoch();
    while (drainList.isReady(safe) && drainList.tryDrain(safe)) {
      safe = safeEpoch();
    }
  }
}
