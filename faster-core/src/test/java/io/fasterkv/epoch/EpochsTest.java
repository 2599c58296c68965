package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.OutOfBudget;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EpochsTest {
  private static final int SLOTS = 4;
  private static final int THREADS = 4;
  private static final int ACTIONS = 20_000;

  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final Epochs epochs = new Epochs(SLOTS, failures::add);
  private final List<Integer> ran = new ArrayList<>();

  @Test
  void anActionRunsAtOnceWithoutProtectedUsers() {
    epochs.bump(() -> ran.add(1));
    assertThat(ran).containsExactly(1);
  }

  @Test
  void anActionWaitsForEarlierUsers() {
    EpochUser user = epochs.register();
    user.protect();
    epochs.bump(() -> ran.add(1));
    epochs.drain();
    assertThat(ran).isEmpty();
    user.unprotect();
    assertThat(ran).as("unprotect() runs no action").isEmpty();
    epochs.drain();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void aRefreshLetsActionsRun() {
    EpochUser user = epochs.register();
    user.protect();
    epochs.bump(() -> ran.add(1));
    user.refresh();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void idleSlotsDelayNoAction() {
    EpochUser idle = epochs.register();
    EpochUser used = epochs.register();
    idle.protect();
    idle.unprotect();
    used.protect();
    epochs.bump(() -> ran.add(1));
    used.refresh();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void aLaterUserDelaysNoAction() {
    EpochUser early = epochs.register();
    EpochUser late = epochs.register();
    early.protect();
    epochs.bump(() -> ran.add(1));
    late.protect();
    early.unprotect();
    epochs.drain();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void actionsRunOnceAndInOrder() {
    EpochUser user = epochs.register();
    user.protect();
    IntStream.range(0, 100).forEach(i -> epochs.bump(() -> ran.add(i)));
    user.unprotect();
    epochs.drain();
    epochs.drain();
    assertThat(ran).containsExactlyElementsOf(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void aFullListRefusesAndTakesMoreAfterItHasDrained() {
    EpochUser user = epochs.register();
    user.protect();
    int taken = 0;
    while (epochs.tryBump(() -> ran.add(1))) {
      taken++;
    }
    assertThat(taken).isEqualTo(DrainList.CAPACITY / 2);
    assertThat(epochs.tryBump(() -> ran.add(1))).isFalse();
    user.refresh();
    assertThat(ran).hasSize(taken);
    assertThat(epochs.tryBump(() -> ran.add(1))).isTrue();
  }

  @Test
  void anActionMayRegisterAnActionEvenWhenTheListIsFull() {
    EpochUser user = epochs.register();
    user.protect();
    int taken = 0;
    while (epochs.tryBump(() -> epochs.bump(() -> ran.add(1)))) {
      taken++;
    }
    user.unprotect();
    epochs.drain();
    assertThat(ran).hasSize(taken);
    assertThat(failures).isEmpty();
  }

  @Test
  void anActionThatThrowsIsReportedAndDelaysNoOther() {
    EpochUser user = epochs.register();
    user.protect();
    epochs.bump(() -> {
      throw new IllegalStateException("on purpose");
    });
    epochs.bump(() -> ran.add(2));
    user.refresh();
    assertThat(ran).containsExactly(2);
    assertThat(failures).singleElement().extracting(Throwable::getMessage).isEqualTo("on purpose");
  }

  /** The wait once never ended. */
  @Test
  void awaitingAFailedActionThrows() {
    IllegalStateException failure = new IllegalStateException("on purpose");
    assertThatThrownBy(() ->
            epochs.await(
                () -> {
                  throw failure;
                },
                () -> "an action"))
        .hasMessage("waiting for an action")
        .hasCause(failure);
    assertThat(failures).containsExactly(failure);
    epochs.await(() -> ran.add(1), () -> "the next");
    assertThat(ran).containsExactly(1);
  }

  @Test
  void aSlotThatWasGivenBackIsLentAgain() {
    List<EpochUser> users = Stream.generate(epochs::register).limit(SLOTS).toList();
    assertThatThrownBy(epochs::register)
        .isInstanceOf(OutOfBudget.class)
        .hasMessageContaining("slots=" + SLOTS);
    users.get(2).close();
    try (EpochUser again = epochs.register()) {
      again.protect();
      epochs.bump(() -> ran.add(1));
      assertThat(epochs.holders()).extracting(Epochs.Holder::slot).containsExactly(2);
      again.unprotect();
    }
    users.forEach(EpochUser::close);
  }

  @Test
  void aUserThatIsClosedProtectsNothing() {
    EpochUser user = epochs.register();
    user.close();
    user.close();
    assertThatThrownBy(user::protect).isInstanceOf(Closed.class);
    assertThatThrownBy(user::unprotect).isInstanceOf(IllegalStateException.class);
  }

  @Tag("slow")
  @Test
  void ofManyThreadsEachActionRunsOnceAndThoseOfOneThreadInOrder() throws Exception {
    List<List<Integer>> seen = new ArrayList<>();
    List<Future<?>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        // Only actions write this list, and they run one after the other.
        List<Integer> mine = new ArrayList<>();
        seen.add(mine);
        futures.add(threads.submit(() -> bumpMany(mine)));
      }
    }
    for (Future<?> future : futures) {
      future.get();
    }
    epochs.drain();
    List<Integer> expected = IntStream.range(0, ACTIONS).boxed().toList();
    assertThat(seen).allSatisfy(mine -> assertThat(mine).isEqualTo(expected));
    assertThat(failures).isEmpty();
  }

  /** Far more actions than the drain list holds, each of which registers another. */
  @Test
  void actionsThatRegisterActionsRunOnceEach() throws Exception {
    int actions = 5 * DrainList.CAPACITY;
    int[] first = new int[THREADS * actions];
    int[] second = new int[THREADS * actions];
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> futures = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        int from = thread * actions;
        futures.add(
            threads.submit(() -> {
              for (int i = from; i < from + actions; i++) {
                int number = i;
                epochs.bump(() -> {
                  first[number]++;
                  epochs.bump(() -> second[number]++);
                });
              }
            }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    }
    epochs.drain();
    assertThat(first).containsOnly(1);
    assertThat(second).containsOnly(1);
    assertThat(failures).isEmpty();
  }

  private void bumpMany(List<Integer> mine) {
    EpochUser user = epochs.register();
    for (int i = 0; i < ACTIONS; i++) {
      int number = i;
      user.protect();
      while (!epochs.tryBump(() -> mine.add(number))) {
        user.refresh();
        Thread.onSpinWait();
      }
      user.unprotect();
    }
    user.close();
  }
}
