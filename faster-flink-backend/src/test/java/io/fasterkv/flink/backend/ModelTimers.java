package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;

/** A timer queue and its expected contents in a java.util set. */
final class ModelTimers {
  private static final Comparator<TimerHeapInternalTimer<Integer, String>> ORDER =
      Comparator.<TimerHeapInternalTimer<Integer, String>>comparingLong(
              TimerHeapInternalTimer::getTimestamp)
          .thenComparing(TimerHeapInternalTimer::getKey)
          .thenComparing(TimerHeapInternalTimer::getNamespace);

  private final NavigableSet<TimerHeapInternalTimer<Integer, String>> expected;
  private final int times;

  /** A model with a limited number of timestamps. */
  ModelTimers(int times) {
    this.expected = new TreeSet<>(ORDER);
    this.times = times;
  }

  /** Creates a copy. */
  ModelTimers(ModelTimers other) {
    this.expected = new TreeSet<>(other.expected);
    this.times = other.times;
  }

  static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue(
      FasterKeyedStateBackend<Integer> backend) {
    return backend.create("timers", serializer());
  }

  static TimerSerializer<Integer, String> serializer() {
    return new TimerSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);
  }

  int size() {
    return expected.size();
  }

  /** A model with only the timers of these key groups. */
  ModelTimers of(KeyGroupRange range) {
    ModelTimers part = new ModelTimers(this);
    part.expected.removeIf(timer -> !range.contains(keyGroup(timer)));
    return part;
  }

  private static int keyGroup(TimerHeapInternalTimer<Integer, String> timer) {
    return KeyGroupRangeAssignment.assignToKeyGroup(timer.getKey(), TestBackends.KEY_GROUPS);
  }

  /** Changes the queue and the model at random. */
  void change(
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue,
      SplittableRandom random,
      int steps)
      throws Exception {
    int adds = random.nextInt(25, 80);
    for (int step = 0; step < steps; step++) {
      int kind = random.nextInt(100);
      if (kind < adds) {
        TimerHeapInternalTimer<Integer, String> timer = timer(random);
        TimerHeapInternalTimer<Integer, String> head = queue.peek();
        boolean maybeNewHead = queue.add(timer);
        expected.add(timer);
        assertThat(maybeNewHead || sameTime(head, queue.peek())).isTrue();
      } else if (kind < adds + (100 - adds) / 2) {
        remove(queue, random);
      } else {
        poll(queue);
      }
      if (random.nextInt(1_000) == 0) {
        iterateAndChange(queue, random);
        check(queue);
      }
    }
  }

  private static boolean sameTime(
      TimerHeapInternalTimer<?, ?> left, TimerHeapInternalTimer<?, ?> right) {
    return left == null || right == null
        ? left == right
        : left.getTimestamp() == right.getTimestamp();
  }

  private void remove(
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue,
      SplittableRandom random) {
    TimerHeapInternalTimer<Integer, String> timer = timer(random);
    if (random.nextInt(10) > 0 && expected.ceiling(timer) != null) {
      timer = expected.ceiling(timer);
    }
    TimerHeapInternalTimer<Integer, String> head = queue.peek();
    boolean maybeNewHead = queue.remove(timer);
    expected.remove(timer);
    assertThat(maybeNewHead || sameTime(head, queue.peek())).isTrue();
  }

  private void poll(
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue) {
    TimerHeapInternalTimer<Integer, String> peeked = queue.peek();
    TimerHeapInternalTimer<Integer, String> polled = queue.poll();
    assertThat(polled).isEqualTo(peeked);
    assertThat(queue.isEmpty()).isEqualTo(expected.size() <= 1);
    if (expected.isEmpty()) {
      assertThat(polled).isNull();
      return;
    }
    // Timers with the same time may be in any order.
    assertThat(polled.getTimestamp()).isEqualTo(expected.first().getTimestamp());
    assertThat(expected.remove(polled)).as("%s is in the queue once", polled).isTrue();
  }

  /** An unchanged timer is returned once, although other timers are added and removed. */
  private void iterateAndChange(
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue,
      SplittableRandom random)
      throws Exception {
    NavigableSet<TimerHeapInternalTimer<Integer, String>> untouched = new TreeSet<>(expected);
    List<TimerHeapInternalTimer<Integer, String>> shown = new ArrayList<>();
    boolean heap = !queue.getClass().getSimpleName().equals("KeyGroupPartitionedPriorityQueue");
    try (CloseableIterator<TimerHeapInternalTimer<Integer, String>> timers = queue.iterator()) {
      while (timers.hasNext()) {
        TimerHeapInternalTimer<Integer, String> timer = timers.next();
        shown.add(timer);
        // Flink's queue on the heap does not support changes during an iteration.
        if (!heap && random.nextInt(8) == 0) {
          queue.remove(timer);
          expected.remove(timer);
          untouched.remove(timer);
          TimerHeapInternalTimer<Integer, String> added = timer(random);
          queue.add(added);
          expected.add(added);
          untouched.remove(added);
        }
      }
    }
    assertThat(shown).doesNotHaveDuplicates();
    TreeSet<TimerHeapInternalTimer<Integer, String>> seen = new TreeSet<>(ORDER);
    seen.addAll(shown);
    assertThat(seen.containsAll(untouched)).as("every unchanged timer is returned").isTrue();
  }

  /** Checks the whole queue. */
  void check(KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue)
      throws Exception {
    assertThat(queue.size()).isEqualTo(expected.size());
    assertThat(queue.isEmpty()).isEqualTo(expected.isEmpty());
    NavigableSet<TimerHeapInternalTimer<Integer, String>> shown = new TreeSet<>(ORDER);
    int count = 0;
    try (CloseableIterator<TimerHeapInternalTimer<Integer, String>> timers = queue.iterator()) {
      while (timers.hasNext()) {
        shown.add(timers.next());
        count++;
      }
    }
    assertThat(count).isEqualTo(expected.size());
    assertThat(shown).isEqualTo(expected);
  }

  /** Checks the subsets of the key groups. */
  void checkSubsets(
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue,
      KeyGroupRange range) {
    for (int keyGroup : range) {
      assertThat(new TreeSet<>(sorted(queue.getSubsetForKeyGroup(keyGroup))))
          .isEqualTo(of(KeyGroupRange.of(keyGroup, keyGroup)).expected);
    }
  }

  private static NavigableSet<TimerHeapInternalTimer<Integer, String>> sorted(
      Iterable<TimerHeapInternalTimer<Integer, String>> timers) {
    NavigableSet<TimerHeapInternalTimer<Integer, String>> sorted = new TreeSet<>(ORDER);
    timers.forEach(sorted::add);
    return sorted;
  }

  /** Polls all timers. */
  void drain(KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue) {
    while (!expected.isEmpty()) {
      poll(queue);
    }
    poll(queue);
  }

  /**
   * A timer with one of a few keys and namespaces, so that equal timers recur. Some namespaces are
   * huge.
   */
  private TimerHeapInternalTimer<Integer, String> timer(SplittableRandom random) {
    long time =
        switch (random.nextInt(40)) {
          case 0 -> Long.MIN_VALUE;
          case 1 -> Long.MAX_VALUE;
          default -> random.nextInt(times) - times / 2L;
        };
    int kind = random.nextInt(200);
    int length = kind == 0 ? random.nextInt(20_000) : kind < 20 ? 200 + kind * 4 : kind % 4;
    return new TimerHeapInternalTimer<>(time, random.nextInt(200), "n".repeat(length));
  }
}
