package io.fasterkv.flink.timers;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.state.StateRegistry;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures {@code -Dtimers=} timers, 200,000 by default, with {@code -Dtimers.memory=} MiB for the
 * store (64 by default): their size on disk and heap, and the time in comparison with Flink's queue
 * on the heap ({@code -Dtimers.heap=false} omits that).
 */
@Tag("long")
@Timeout(value = 6, unit = TimeUnit.HOURS)
class ManyTimersTest {
  private static final int KEY_GROUPS = 128;
  private static final long SEED = 7;

  private final int timers = Integer.getInteger("timers", 200_000);
  private final long memoryBytes = Long.getLong("timers.memory", 64) << 20;
  private final boolean withHeap = !"false".equals(System.getProperty("timers.heap"));

  @TempDir Path directory;

  /** Timers are added nearly in order, like those of sessions and windows. */
  @Test
  void nearlyInOrder() {
    SplittableRandom random = new SplittableRandom(SEED);
    compare("nearly in order", i -> i + random.nextInt(Math.max(1, timers / 100)));
  }

  /** All timers have one of ten times, like those at the ends of windows. */
  @Test
  void tenTimes() {
    compare("ten times", i -> i * 10 / timers);
  }

  /** Each timer has a random time. */
  @Test
  void inNoOrder() {
    SplittableRandom random = new SplittableRandom(SEED);
    compare("in no order", i -> random.nextLong());
  }

  private record Times(double addNanos, double pollNanos) {}

  private void compare(String order, LongUnaryOperator timeOf) {
    Times inStore;
    try (TestRecords test = new TestRecords(directory, memoryBytes, 256 << 10)) {
      StoreQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue =
          new StoreTimers(range(), KEY_GROUPS, new StateRegistry(), test.records.trees())
              .openQueue("timers", serializer(), false);
      double addNanos = add(queue.queue(), timeOf);
      assertThat(queue.elementsOnHeap()).isLessThanOrEqualTo(KEY_GROUPS);
      assertThat(test.store.statistics().memoryBytes()).isLessThanOrEqualTo(memoryBytes);
      long logBytes = test.store.statistics().logBytes();
      test.store.log().compact();
      report(
          "%s: %,d timers, log %.1f bytes a timer, %.1f compacted, %.0f ns an add",
          order,
          timers,
          (double) logBytes / timers,
          (double) test.store.statistics().logBytes() / timers,
          addNanos);
      inStore = new Times(addNanos, poll(queue.queue()));
    }
    report("%s: %.0f ns a poll", order, inStore.pollNanos);
    if (withHeap) {
      compareWithHeap(order, timeOf, inStore);
    }
  }

  private void compareWithHeap(String order, LongUnaryOperator timeOf, Times inStore) {
    InternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> onHeap =
        new HeapPriorityQueueSetFactory(range(), KEY_GROUPS, 128).create("timers", serializer());
    Times heap = new Times(add(onHeap, timeOf), poll(onHeap));
    report(
        "%s: heap %.0f ns an add, %.0f ns a poll; the store's rate is %.2f and %.2f of that",
        order,
        heap.addNanos,
        heap.pollNanos,
        heap.addNanos / inStore.addNanos,
        heap.pollNanos / inStore.pollNanos);
  }

  private static void report(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  private static KeyGroupRange range() {
    return KeyGroupRange.of(0, KEY_GROUPS - 1);
  }

  private static TimerSerializer<Long, VoidNamespace> serializer() {
    return new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE);
  }

  private double add(
      InternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue,
      LongUnaryOperator timeOf) {
    long start = System.nanoTime();
    for (long i = 0; i < timers; i++) {
      queue.add(new TimerHeapInternalTimer<>(timeOf.applyAsLong(i), i, VoidNamespace.INSTANCE));
    }
    return (double) (System.nanoTime() - start) / timers;
  }

  private double poll(InternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue) {
    long start = System.nanoTime();
    long last = Long.MIN_VALUE;
    for (int i = 0; i < timers; i++) {
      TimerHeapInternalTimer<Long, VoidNamespace> timer = queue.poll();
      if (timer == null || timer.getTimestamp() < last) {
        throw new AssertionError("polled " + timer + " after one with time " + last);
      }
      last = timer.getTimestamp();
    }
    assertThat(queue.poll()).isNull();
    return (double) (System.nanoTime() - start) / timers;
  }
}
