package io.fasterkv.epoch;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.memory.HeapWords;
import io.fasterkv.memory.StackReserve;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Epoch protection with trigger actions (SIGMOD'18, sections 2.3 and 2.4). It protects data that
 * some threads read while others remove it.
 *
 * <p>A {@linkplain EpochUser user} protects itself around each burst of accesses. A writer makes a
 * change in two steps: it publishes the new state, and then calls {@link #bump} with an action. The
 * action runs once every user that may have seen the old state has unprotected or refreshed.
 * Actions run exactly once, in the order of their epochs, one at a time, on any thread that enters
 * or waits. An idle user is unprotected and delays no other thread. All methods are safe for all
 * threads.
 *
 * <pre>{@code
 * Epochs epochs = new Epochs(64, problem -> log.error("an action failed", problem));
 *
 * // A reader, on its own thread:
 * try (EpochUser reader = epochs.register()) {
 *   reader.protect();
 *   try {
 *     use(current.get());            // everything loaded here stays valid until unprotect
 *   } finally {
 *     reader.unprotect();
 *   }
 * }
 *
 * // A writer, on any thread that is not protected:
 * Table old = current.getAndSet(replacement);
 * epochs.bump(old::free);            // runs when no reader can be using it any more
 * }</pre>
 *
 * <p>What each side may observe. {@code protect} announces the epoch with a volatile store and then
 * loads the current epoch again, also volatile. If a scan ran before the store and found the slot
 * empty, then that load, and all that follows it, comes after the bump of that scan. Without this
 * order, the following loads could see a state from before the bump and use memory that its action
 * has freed. The announced epoch may be older than the one loaded again, even older than actions
 * that have run; it then protects more than necessary. A scan reads the current epoch and then the
 * slots with volatile loads. A refresh may announce with a release store: until that store is
 * visible, the slot shows an older epoch, which protects more, and the loads that follow come after
 * the volatile load of the current epoch. {@code unprotect} is a release store, so that no access
 * moves behind it. If it makes an action ready, the next user that protects runs the action, or a
 * thread that waits for it and calls {@link #drain()}.
 *
 * <p>A user is abandoned if its thread has ended or if it is unreachable. It loses its slot as soon
 * as it delays another thread; see {@link SlotOwner}.
 */
public final class Epochs {
  private static final long UNPROTECTED = 0;

  /**
   * Index of the announcement in its slot. It is alone in its cache lines, because many threads
   * read it.
   */
  private static final int AT = 128 / Long.BYTES;

  /** After this many drains without progress, slots are checked for abandoned users. */
  private static final int FRUITLESS_DRAINS = 1024;

  private static final AtomicLongFieldUpdater<Epochs> CURRENT =
      AtomicLongFieldUpdater.newUpdater(Epochs.class, "currentEpoch");

  private final long[][] slots;
  private volatile long currentEpoch = 1;
  private final AtomicInteger slotsEverUsed = new AtomicInteger();
  private final AtomicReferenceArray<@Nullable SlotOwner> owners;
  private final DrainList drainList;

  /** Spaces out a check that may run at any time, so increments may be lost. */
  private final AtomicInteger fruitlessDrains = new AtomicInteger();

  private volatile Reports reports = Reports.NONE;

  /**
   * Creates epochs without users.
   *
   * @param slots the maximum number of users at a time, 1 or more; each takes a few hundred bytes
   * @param failures receives any exception of an action; later actions run all the same
   */
  public Epochs(int slots, Consumer<Throwable> failures) {
    this.slots = new long[slots][];
    for (int slot = 0; slot < slots; slot++) {
      this.slots[slot] = new long[2 * AT + 1];
    }
    this.owners = new AtomicReferenceArray<>(slots);
    this.drainList = new DrainList(failures);
  }

  /**
   * Reserves a slot for a new user. The user is unprotected and belongs to the calling thread.
   *
   * @return the user
   * @throws OutOfBudget if all slots are in use by users that are not abandoned
   */
  public EpochUser register() {
    return new EpochUser(this);
  }

  /**
   * Moves to the next epoch and registers an action, if there is room. The action runs once no user
   * is in an earlier epoch, possibly before this method returns. If it returns false, a protected
   * caller refreshes and retries.
   *
   * <p>A thread that fails inside this method, because stack or heap is exhausted, has either
   * registered its action or not. If it has, other threads move to the next epoch in its place.
   *
   * @param action the trigger action
   * @return false, with nothing done, if too many actions are waiting
   */
  public boolean tryBump(Runnable action) {
    return tryBump(new DrainList.Entry(action));
  }

  private boolean tryBump(DrainList.Entry entry) {
    if (!drainList.isInAction()) {
      StackReserve.require();
    }
    for (boolean isRegistered = false; !isRegistered; ) {
      long epoch = currentEpoch;
      if (!drainList.hasRoomFor(epoch)) {
        drain();
        return false;
      }
      isRegistered = drainList.tryPublish(epoch, entry);
      // If another thread has claimed the epoch, this moves to the next epoch on its behalf.
      CURRENT.compareAndSet(this, epoch, epoch + 1);
    }
    drain();
    return true;
  }

  /**
   * Like {@link #tryBump}, but waits for room. For callers that are not protected.
   *
   * @param action the trigger action
   */
  public void bump(Runnable action) {
    bump(new DrainList.Entry(action));
  }

  private void bump(DrainList.Entry entry) {
    if (tryBump(entry)) {
      return;
    }
    EpochWait wait = new EpochWait(this, () -> "room for a trigger action");
    while (!tryBump(entry)) {
      wait.pause();
    }
  }

  /**
   * Runs an action once no user is in an epoch that started before, and returns after that. For
   * callers that are not protected. The wait ends with the drain of the action's epoch, so it ends
   * even if the action could not begin. A caller that fails inside this method, because stack or
   * heap is exhausted, may have registered the action.
   *
   * @param action the trigger action
   * @param purpose the condition, in words that follow "waiting for"
   * @throws IllegalStateException with the exception of the action as its cause; the exception is
   *     also reported as a failure
   */
  public void await(Runnable action, Supplier<String> purpose) {
    DrainList.Entry entry = new DrainList.Entry(action);
    EpochWait wait = new EpochWait(this, purpose);
    bump(entry);
    while (!drainList.isOver(entry)) {
      wait.pause();
    }
    Throwable failure = DrainList.failure(entry);
    if (failure != null) {
      throw new IllegalStateException("waiting for " + purpose.get(), failure);
    }
  }

  /**
   * Waits until each user was unprotected at some moment after the call. So a user that protects
   * itself later sees what the caller wrote before, by volatile stores. Registers no action and
   * allocates nothing, so it also ends when the heap is full. For callers that are not protected.
   *
   * @param wait a wait of these epochs, made before
   */
  public void awaitUsers(EpochWait wait) {
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      while (announced(slot) != UNPROTECTED) {
        if (reclaim() == 0) {
          wait.pauseForUsers();
        }
      }
    }
    wait.end();
  }

  /** Runs the actions that are ready. A thread that waits for an action calls this repeatedly. */
  public void drain() {
    long epoch = currentEpoch;
    if (drainList.isPublished(epoch)) {
      // The thread that claimed this epoch was stopped before it could move on.
      CURRENT.compareAndSet(this, epoch, epoch + 1);
    }
    drainReady();
    boolean isHeldUp = drainList.drainedEpoch() < currentEpoch - 1;
    if (isHeldUp && isTimeToReclaim() && reclaim() > 0) {
      drainReady();
    }
  }

  /** Whether the calling thread has counted the drains up to a multiple of 1024. */
  private boolean isTimeToReclaim() {
    int drains = fruitlessDrains.getOpaque() + 1;
    fruitlessDrains.setOpaque(drains);
    return drains % FRUITLESS_DRAINS == 0;
  }

  /**
   * Takes slots back from abandoned users. Applications need not call this: a thread that is
   * delayed by such a user, or finds no free slot, does so.
   *
   * @return the number of slots taken back
   */
  public int reclaim() {
    int reclaimed = 0;
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      if (owner != null && owner.isAbandoned() && release(slot, owner)) {
        reclaimed++;
      }
    }
    return reclaimed;
  }

  /** {@return the epoch that a user would announce if it protected itself now} */
  public long currentEpoch() {
    return currentEpoch;
  }

  /** {@return the newest epoch such that no user is in it or in an earlier one} */
  public long safeEpoch() {
    long safe = currentEpoch - 1;
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
   * A user that is protected in an epoch before the current one.
   *
   * @param slot the user's position in the epoch table, from 0
   * @param thread name and state of its thread
   * @param epoch the epoch that it is protected in
   */
  public record Holder(int slot, String thread, long epoch) {}

  /**
   * {@return whether the calling thread is protected, by any user, or runs a trigger action: a wait
   * for an epoch would then wait for itself}
   */
  public boolean isWithin() {
    if (drainList.isInAction()) {
      return true;
    }
    Thread current = Thread.currentThread();
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      if (owner != null && owner.isOn(current) && announced(slot) != UNPROTECTED) {
        return true;
      }
    }
    return false;
  }

  /** {@return the users that delay actions at this moment, those in the oldest epoch first} */
  public List<Holder> holders() {
    return holdersBelow(currentEpoch());
  }

  List<Holder> holdersBelow(long limit) {
    List<Holder> holders = new ArrayList<>();
    int used = slotsEverUsed.get();
    for (int slot = 0; slot < used; slot++) {
      SlotOwner owner = owners.get(slot);
      long announced = announced(slot);
      if (owner != null && announced != UNPROTECTED && announced < limit) {
        holders.add(new Holder(slot, owner.describeThread(), announced));
      }
    }
    holders.sort(Comparator.comparingLong(Holder::epoch));
    return holders;
  }

  /**
   * Sends reports of long waits, with the users that delay them, to a sink. By default there are no
   * reports.
   *
   * @param afterNanos how long a wait lasts before its first report, in nanoseconds
   * @param sink receives the reports
   */
  public void reportWaits(long afterNanos, Consumer<String> sink) {
    reports = new Reports(afterNanos, sink);
  }

  Reports reports() {
    return reports;
  }

  /** When a wait reports that it is delayed, and to which sink. */
  record Reports(long afterNanos, Consumer<String> sink) {
    static final Reports NONE = new Reports(Long.MAX_VALUE, text -> {});
  }

  /** Announces the current epoch in a slot that no other thread writes. */
  void protect(long[] slot) {
    HeapWords.storeVolatile(slot, AT, currentEpoch);
    try {
      drainIfBehind(currentEpoch);
    } catch (Throwable e) {
      // The caller treats an exception as "not protected".
      HeapWords.storeVolatile(slot, AT, UNPROTECTED);
      throw e;
    }
  }

  void refresh(long[] slot) {
    long epoch = currentEpoch;
    HeapWords.storeRelease(slot, AT, epoch);
    drainIfBehind(epoch);
  }

  void unprotect(long[] slot) {
    HeapWords.storeRelease(slot, AT, UNPROTECTED);
  }

  /** The slot in which an owner announces its epoch. */
  long[] slot(int slot) {
    return slots[slot];
  }

  /** Assigns a free slot to an owner. */
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

  /** Replaces a slot's owner; returns false if {@code from} no longer owns the slot. */
  boolean handOver(int slot, SlotOwner from, SlotOwner to) {
    return owners.compareAndSet(slot, from, to);
  }

  /** Frees a slot; returns false if this owner no longer owns it. */
  boolean release(int slot, SlotOwner owner) {
    // Between these two stores the slot has no owner, so no announcement is overwritten.
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
        // Before the slot is claimed: nothing that can fail may follow the claim.
        slotsEverUsed.accumulateAndGet(slot + 1, Math::max);
        if (owners.compareAndSet(slot, null, owner)) {
          return slot;
        }
      }
    }
    return -1;
  }

  private long announced(int slot) {
    return HeapWords.loadVolatile(slots[slot], AT);
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
