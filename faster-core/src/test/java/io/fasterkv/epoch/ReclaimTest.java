package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests users whose threads end while protected, and users for which this only seems so. */
class ReclaimTest {
  private static final int SLOTS = 2;
  private static final Cleaner CLEANER = Cleaner.create();

  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final Epochs epochs = new Epochs(SLOTS, failures::add);
  private final AtomicInteger ran = new AtomicInteger();

  private static void inThread(boolean isVirtual, Runnable work) {
    Thread thread = isVirtual ? Thread.startVirtualThread(work) : Thread.ofPlatform().start(work);
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A user of a thread that has ended while protected; the caller keeps the user reachable. */
  private EpochUser leftProtected(boolean isVirtual) {
    AtomicReference<EpochUser> user = new AtomicReference<>();
    inThread(
        isVirtual,
        () -> {
          user.set(epochs.register());
          user.get().protect();
        });
    return user.get();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aThreadThatDiedProtectedDoesNotDelayOthersForEver(boolean isVirtual) {
    EpochUser dead = leftProtected(isVirtual);
    epochs.bump(ran::incrementAndGet);
    assertThat(ran).hasValue(0);
    assertThat(epochs.holders()).hasSize(1);
    while (ran.get() == 0) {
      epochs.drain();
    }
    assertThat(epochs.holders()).isEmpty();
    // The user is used again on this thread, in a slot of its own.
    dead.protect();
    epochs.bump(ran::incrementAndGet);
    assertThat(epochs.reclaim()).isZero();
    assertThat(ran).hasValue(1);
    dead.unprotect();
    epochs.drain();
    assertThat(ran).hasValue(2);
    dead.close();
  }

  @Test
  void waitingForRoomInAFullListReclaims() {
    EpochUser dead = leftProtected(false);
    int actions = 3 * DrainList.CAPACITY;
    for (int i = 0; i < actions; i++) {
      epochs.bump(ran::incrementAndGet);
    }
    dead.close();
    assertThat(ran).hasValue(actions);
  }

  @Test
  void waitingForUsersReclaimsTheDead() {
    EpochUser dead = leftProtected(false);
    epochs.awaitUsers(new EpochWait(epochs, () -> "users"));
    assertThat(epochs.reclaim()).as("left to reclaim").isZero();
    dead.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFullTableTakesTheSlotsOfThreadsThatDied(boolean isVirtual) {
    List<EpochUser> kept = new ArrayList<>();
    for (int i = 0; i < 10 * SLOTS; i++) {
      inThread(isVirtual, () -> kept.add(epochs.register()));
    }
    try (EpochUser first = epochs.register();
        EpochUser second = epochs.register()) {
      first.protect();
      second.protect();
      assertThatThrownBy(epochs::register).isInstanceOf(OutOfBudget.class);
      // Users whose slots were reclaimed detect it, and take no other user's slot.
      assertThatThrownBy(kept.getLast()::protect).isInstanceOf(OutOfBudget.class);
      kept.forEach(EpochUser::close);
      assertThatThrownBy(epochs::register).isInstanceOf(OutOfBudget.class);
      first.unprotect();
      second.unprotect();
    }
  }

  @Test
  void anUnreachableUserIsReclaimed() throws InterruptedException {
    CountDownLatch collected = new CountDownLatch(1);
    forget(collected);
    epochs.bump(ran::incrementAndGet);
    while (collected.getCount() > 0) {
      System.gc();
      Thread.onSpinWait();
    }
    collected.await();
    while (ran.get() == 0) {
      epochs.drain();
    }
  }

  private void forget(CountDownLatch collected) {
    EpochUser user = epochs.register();
    user.protect();
    CLEANER.register(user, collected::countDown);
  }

  @Test
  void aUserThatIsHandedToAnotherThreadBelongsToThatThread() {
    AtomicReference<EpochUser> handed = new AtomicReference<>();
    inThread(false, () -> handed.set(epochs.register()));
    EpochUser user = handed.get();
    user.protect();
    assertThat(epochs.reclaim()).as("only its first thread has ended").isZero();
    epochs.bump(ran::incrementAndGet);
    assertThat(epochs.holders().getFirst().thread()).contains(Thread.currentThread().getName());
    assertThat(ran).hasValue(0);
    user.close();
  }

  @Test
  void leavingOnAnotherThreadIsRefused() {
    EpochUser dead = leftProtected(false);
    assertThatThrownBy(dead::unprotect)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("thread=");
    assertThatThrownBy(dead::refresh).isInstanceOf(IllegalStateException.class);
    dead.close();
  }

  /** For an action the epoch moves on; for users it does not, and they are in the current one. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitReportsTheUsersThatDelayIt(boolean isForUsers) throws InterruptedException {
    List<String> reports = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch reported = new CountDownLatch(1);
    epochs.reportWaits(
        1,
        text -> {
          reports.add(text);
          reported.countDown();
        });
    CountDownLatch isProtected = new CountDownLatch(1);
    Thread slow =
        Thread.ofPlatform()
            .name("slow reader")
            .start(() -> {
              try (EpochUser user = epochs.register()) {
                user.protect();
                isProtected.countDown();
                reported.await();
                user.unprotect();
              } catch (InterruptedException e) {
                failures.add(e);
              }
            });
    isProtected.await();
    EpochWait wait = new EpochWait(epochs, () -> "the action to run");
    if (isForUsers) {
      epochs.awaitUsers(wait);
    } else {
      epochs.bump(ran::incrementAndGet);
      while (ran.get() == 0) {
        wait.pause();
      }
    }
    slow.join();
    assertThat(reports.getFirst())
        .contains("waiting for the action to run", "heldUpBy=", "slow reader", "slot=0", "epoch=1");
    assertThat(failures).isEmpty();
  }

  /**
   * Users move from one ending thread to the next while another thread reclaims slots all the time.
   */
  @Tag("slow")
  @Test
  void aSlotInUseIsNeverTakenWhileUsersChangeThreads() throws InterruptedException {
    Epochs many = new Epochs(8, failures::add);
    AtomicBoolean isOver = new AtomicBoolean();
    Thread reclaimer =
        Thread.ofPlatform()
            .start(() -> {
              while (!isOver.get()) {
                many.reclaim();
                many.drain();
              }
            });
    List<Thread> chains = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      boolean isVirtual = i % 2 == 0;
      chains.add(Thread.ofPlatform().start(() -> hop(many, isVirtual)));
    }
    for (Thread chain : chains) {
      chain.join();
    }
    isOver.set(true);
    reclaimer.join();
    assertThat(failures).isEmpty();
  }

  private void hop(Epochs many, boolean isVirtual) {
    AtomicReference<EpochUser> user = new AtomicReference<>();
    inThread(isVirtual, () -> user.set(many.register()));
    for (int i = 0; i < 3_000; i++) {
      inThread(
          isVirtual,
          () -> {
            AtomicBoolean isFreed = new AtomicBoolean();
            user.get().protect();
            // A protected user does not wait: the drain list may be full because of this very user.
            while (!many.tryBump(() -> isFreed.set(true))) {
              user.get().refresh();
            }
            for (int look = 0; look < 20; look++) {
              if (isFreed.get()) {
                failures.add(new AssertionError("freed under a protected user"));
              }
            }
            user.get().unprotect();
          });
    }
    user.get().close();
  }
}
