package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EpochsTest {
  private static final int SLOTS = 4;
  private static final int THREADS = 4;
  private static final int ACTIONS = 20_000;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 16));
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final Epochs epochs = new Epochs(arena, SLOTS, failures::add);
  private final List<Integer> ran = new ArrayList<>();

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void anActionRunsAtOnceWhenNobodyIsThere() {
    epochs.bump(() -> ran.add(1));
    assertThat(ran).containsExactly(1);
  }

  @Test
  void anActionWaitsForAUserWhoWasThereBefore() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    epochs.bump(() -> ran.add(1));
    epochs.drain();
    assertThat(ran).isEmpty();
    epochs.unprotect(slot);
    assertThat(ran).as("leaving runs no action").isEmpty();
    epochs.drain();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void aRefreshLetsActionsRun() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    epochs.bump(() -> ran.add(1));
    epochs.refresh(slot);
    assertThat(ran).containsExactly(1);
  }

  @Test
  void idleSlotsHoldNobodyUp() {
    int idle = epochs.acquireSlot();
    int used = epochs.acquireSlot();
    epochs.protect(idle);
    epochs.unprotect(idle);
    epochs.protect(used);
    epochs.bump(() -> ran.add(1));
    epochs.refresh(used);
    assertThat(ran).containsExactly(1);
  }

  @Test
  void aUserWhoCameLaterHoldsNobodyUp() {
    int early = epochs.acquireSlot();
    int late = epochs.acquireSlot();
    epochs.protect(early);
    epochs.bump(() -> ran.add(1));
    epochs.protect(late);
    epochs.unprotect(early);
    epochs.drain();
    assertThat(ran).containsExactly(1);
  }

  @Test
  void actionsRunOnceAndInOrder() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    IntStream.range(0, 100).forEach(i -> epochs.bump(() -> ran.add(i)));
    epochs.unprotect(slot);
    epochs.drain();
    epochs.drain();
    assertThat(ran).containsExactlyElementsOf(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void aFullListRefusesAndTakesMoreAfterItHasDrained() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    int taken = 0;
    while (epochs.tryBump(() -> ran.add(1))) {
      taken++;
    }
    assertThat(taken).isEqualTo(DrainList.CAPACITY / 2);
    assertThat(epochs.tryBump(() -> ran.add(1))).isFalse();
    epochs.refresh(slot);
    assertThat(ran).hasSize(taken);
    assertThat(epochs.tryBump(() -> ran.add(1))).isTrue();
  }

  @Test
  void anActionMayRegisterAnActionEvenWhenTheListIsFull() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    int taken = 0;
    while (epochs.tryBump(() -> epochs.bump(() -> ran.add(1)))) {
      taken++;
    }
    epochs.unprotect(slot);
    epochs.drain();
    assertThat(ran).hasSize(taken);
    assertThat(failures).isEmpty();
  }

  @Test
  void anActionThatThrowsIsReportedAndHoldsNobodyUp() {
    int slot = epochs.acquireSlot();
    epochs.protect(slot);
    epochs.bump(() -> {
      throw new IllegalStateException("on purpose");
    });
    epochs.bump(() -> ran.add(2));
    epochs.refresh(slot);
    assertThat(ran).containsExactly(2);
    assertThat(failures).singleElement().extracting(Throwable::getMessage).isEqualTo("on purpose");
  }

  @Test
  void aSlotThatWasGivenBackIsLentAgain() {
    List<Integer> slots = IntStream.range(0, SLOTS).mapToObj(i -> epochs.acquireSlot()).toList();
    assertThat(slots).doesNotHaveDuplicates();
    assertThatThrownBy(epochs::acquireSlot)
        .isInstanceOf(OutOfBudget.class)
        .hasMessageContaining("slots=" + SLOTS);
    epochs.releaseSlot(slots.get(2));
    assertThat(epochs.acquireSlot()).isEqualTo(slots.get(2));
  }

  @Test
  void ofManyThreadsEachActionRunsOnceAndThoseOfOneThreadInOrder() throws Exception {
    List<List<Integer>> seen = new ArrayList<>();
    List<Future<?>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        // Only actions write it, and they run one after the other.
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

  private void bumpMany(List<Integer> mine) {
    int slot = epochs.acquireSlot();
    for (int i = 0; i < ACTIONS; i++) {
      int number = i;
      epochs.protect(slot);
      while (!epochs.tryBump(() -> mine.add(number))) {
        epochs.refresh(slot);
        Thread.onSpinWait();
      }
      epochs.unprotect(slot);
    }
    epochs.releaseSlot(slot);
  }
}
