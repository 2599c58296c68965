package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DrainListTest {
  private final List<Throwable> failures = new ArrayList<>();
  private final DrainList list = new DrainList(failures::add);
  private final List<Long> ran = new ArrayList<>();

  @Test
  void drainsUpToTheSafeEpochInOrder() {
    publish(1, 2, 3);
    assertThat(list.tryDrain(2)).isTrue();
    assertThat(ran).containsExactly(1L, 2L);
    assertThat(list.drainedEpoch()).isEqualTo(2);
    assertThat(list.isReady(2)).isFalse();
    list.tryDrain(3);
    assertThat(ran).containsExactly(1L, 2L, 3L);
  }

  @Test
  void anEpochWithoutItsActionStopsTheDrain() {
    publish(1, 3);
    list.tryDrain(3);
    assertThat(ran).containsExactly(1L);
    publish(2);
    list.tryDrain(3);
    assertThat(ran).containsExactly(1L, 2L, 3L);
  }

  @Test
  void oneDrainerAtATime() {
    publish(1, () -> ran.add(list.tryDrain(2) ? -1L : 1L));
    publish(2);
    list.tryDrain(2);
    assertThat(ran).containsExactly(1L, 2L);
  }

  @Test
  void theOtherHalfOfTheSlotsIsForActions() {
    int half = DrainList.CAPACITY / 2;
    assertThat(list.hasRoomFor(half)).isTrue();
    assertThat(list.hasRoomFor(half + 1)).isFalse();
    List<Boolean> room = new ArrayList<>();
    publish(
        1,
        () -> {
          room.add(list.hasRoomFor(DrainList.CAPACITY));
          room.add(list.hasRoomFor(DrainList.CAPACITY + 1));
        });
    list.tryDrain(1);
    assertThat(room).containsExactly(true, false);
  }

  @Test
  void slotsAreUsedOverAndOver() {
    for (long epoch = 1; epoch <= 3L * DrainList.CAPACITY; epoch++) {
      assertThat(list.hasRoomFor(epoch)).isTrue();
      publish(epoch);
      list.tryDrain(epoch);
    }
    assertThat(ran).hasSize(3 * DrainList.CAPACITY).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void anActionThatThrowsCountsAsRun() {
    publish(
        1,
        () -> {
          throw new AssertionError("on purpose");
        });
    publish(2);
    list.tryDrain(2);
    assertThat(ran).containsExactly(2L);
    assertThat(failures).hasSize(1);
  }

  @Test
  void anEpochIsClaimedOnce() {
    assertThat(list.tryPublish(1, new DrainList.Entry(() -> ran.add(1L)))).isTrue();
    assertThat(list.tryPublish(1, new DrainList.Entry(() -> ran.add(-1L)))).isFalse();
    list.tryDrain(1);
    assertThat(list.tryPublish(1, new DrainList.Entry(() -> ran.add(-1L)))).isFalse();
    assertThat(list.isPublished(1)).isTrue();
    publish(1 + DrainList.CAPACITY);
    assertThat(list.isPublished(1)).isFalse();
    assertThat(list.tryPublish(1, new DrainList.Entry(() -> ran.add(-1L)))).isFalse();
    assertThat(ran).containsExactly(1L);
  }

  private void publish(long... epochs) {
    for (long epoch : epochs) {
      publish(epoch, () -> ran.add(epoch));
    }
  }

  private void publish(long epoch, Runnable action) {
    assertThat(list.tryPublish(epoch, new DrainList.Entry(action))).isTrue();
  }
}
