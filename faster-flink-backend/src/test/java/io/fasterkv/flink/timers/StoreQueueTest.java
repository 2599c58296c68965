package io.fasterkv.flink.timers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.state.StateRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreQueueTest {
  private static final int KEY_GROUPS = 16;

  @TempDir Path directory;

  private static StoreTimers timers(TestRecords test) {
    return new StoreTimers(
        KeyGroupRange.of(0, KEY_GROUPS - 1), KEY_GROUPS, new StateRegistry(), test.records.trees());
  }

  @Tag("slow")
  @Test
  void manyTimersTakeTheHeapOfOneForEachKeyGroup() {
    assertHeapIsThatOfOneForEachKeyGroup(100_000);
  }

  @Test
  @Tag("long")
  void aMillionTimersTakeTheHeapOfOneForEachKeyGroup() {
    assertHeapIsThatOfOneForEachKeyGroup(1_000_000);
  }

  private void assertHeapIsThatOfOneForEachKeyGroup(int many) {
    try (TestRecords test = new TestRecords(directory, 1 << 20)) {
      StoreQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue =
          timers(test).openQueue("timers", serializer(), false);
      SplittableRandom random = new SplittableRandom(3);
      for (int i = 0; i < many; i++) {
        // Roughly in order, like the timers of a stream.
        queue.queue().add(timer(i + random.nextInt(10_000), i));
        checkHeap(queue, i);
      }
      assertThat(queue.queue().size()).isEqualTo(many);
      assertThat(test.store.statistics().memoryBytes())
          .isLessThanOrEqualTo(test.store.config().memoryBytes());
      long last = Long.MIN_VALUE;
      for (int i = 0; i < many; i++) {
        TimerHeapInternalTimer<Long, VoidNamespace> timer = queue.queue().poll();
        if (timer == null || timer.getTimestamp() < last) {
          fail("polled " + timer + " after one with time " + last);
        }
        last = timer.getTimestamp();
        checkHeap(queue, i);
      }
      assertThat(queue.queue().poll()).isNull();
    }
  }

  private static void checkHeap(StoreQueue<?> queue, int step) {
    if (step % 1_000 == 0) {
      assertThat(queue.elementsOnHeap()).isLessThanOrEqualTo(KEY_GROUPS);
    }
  }

  private static TimerSerializer<Long, VoidNamespace> serializer() {
    return new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE);
  }

  private static TimerHeapInternalTimer<Long, VoidNamespace> timer(long time, long key) {
    return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
  }

  /** Iterators of RocksDB's queue skip timers that are earlier than the last one polled. */
  @Test
  void iteratorsShowTimersThatAreEarlierThanTheLastOnePolled() throws Exception {
    try (TestRecords test = new TestRecords(directory)) {
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue =
          timers(test).queue("queue", serializer(), false);
      queue.add(timer(10, 1));
      assertThat(queue.poll()).isEqualTo(timer(10, 1));
      queue.add(timer(5, 1));
      try (var elements = queue.iterator()) {
        assertThat(elements).toIterable().containsExactly(timer(5, 1));
      }
      assertThat(queue.poll()).isEqualTo(timer(5, 1));
    }
  }

  @Test
  void aSerializerWhoseBytesAreNotInTheOrderOfPrioritiesIsRefused() {
    try (TestRecords test = new TestRecords(directory)) {
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue =
          timers(test).queue("queue", new KeyFirst(), false);
      assertThatThrownBy(
              () -> {
                for (int key = 0; key < 1_000; key++) {
                  queue.add(timer(-key, key));
                }
                while (queue.poll() != null) {}
              })
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the order of serialized timers is not that of their priorities")
          .hasMessageContaining("state.backend.faster.timers=heap");
    }
  }

  /** Violates the contract: it writes the key before the time. */
  private static final class KeyFirst extends TimerSerializer<Long, VoidNamespace> {
    private static final long serialVersionUID = 1;

    KeyFirst() {
      super(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE);
    }

    @Override
    public void serialize(TimerHeapInternalTimer<Long, VoidNamespace> timer, DataOutputView out)
        throws IOException {
      out.writeLong(timer.getKey());
      out.writeLong(timer.getTimestamp());
    }

    @Override
    public TimerHeapInternalTimer<Long, VoidNamespace> deserialize(DataInputView in)
        throws IOException {
      long key = in.readLong();
      return timer(in.readLong(), key);
    }
  }
}
