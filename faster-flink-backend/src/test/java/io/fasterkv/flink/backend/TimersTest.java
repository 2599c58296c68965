package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.TimerPlace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;

/** Tests timers of whole backends, with 1 MiB of memory and pages of 4 KiB. */
@Tag("seeds")
class TimersTest {
  private static final int KEYS = 60;

  @TempDir Path directory;

  private Configuration config(TimerPlace place) {
    return TestSettings.TINY
        .config()
        .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()))
        .set(FasterOptions.TIMERS, place);
  }

  /** Each snapshot is restored to another backend, with timers in the store or on the heap. */
  @Test
  void timersAreASetInTheOrderOfTheirTimesThroughSnapshots() throws Throwable {
    Seeds.run(
        6,
        random -> {
          ModelTimers model = new ModelTimers(1 << random.nextInt(1, 16));
          ModelStates states = new ModelStates();
          KeyedStateHandle[] handles = {};
          for (int life = 0; life < 4; life++) {
            TimerPlace place = random.nextInt(4) == 0 ? TimerPlace.HEAP : TimerPlace.STORE;
            try (TestBackends backends = new TestBackends(config(place))) {
              FasterKeyedStateBackend<Integer> backend = backends.open(handles);
              var queue = ModelTimers.queue(backend);
              model.check(queue);
              states.check(backend, KEYS);
              model.change(queue, random, 2_000);
              states.change(backend, random, KEYS, 300);
              var snapshot = TestBackends.start(backend, TestBackends.inMemory());
              ModelTimers atSnapshot = new ModelTimers(model);
              ModelStates statesAtSnapshot = new ModelStates(states);
              model.change(queue, random, 2_000);
              states.change(backend, random, KEYS, 300);
              handles = new KeyedStateHandle[] {TestBackends.finish(snapshot)};
              model.check(queue);
              assertThat(backend.numKeyValueStateEntries()).isEqualTo(states.count());
              model.checkSubsets(queue, backend.getKeyGroupRange());
              model.drain(queue);
              model = atSnapshot;
              states = statesAtSnapshot;
            }
          }
        });
  }

  @Test
  void timersGoToTheSubtasksThatHaveTheirKeyGroups() throws Throwable {
    Seeds.run(
        2,
        random -> {
          try (TestBackends backends = new TestBackends(config(TimerPlace.STORE))) {
            ModelTimers model = new ModelTimers(1_000);
            FasterKeyedStateBackend<Integer> one = backends.open();
            model.change(ModelTimers.queue(one), random, 5_000);
            KeyedStateHandle ofOne = TestBackends.snapshot(one);
            List<KeyedStateHandle> ofThree = new ArrayList<>();
            for (KeyGroupRange range : ranges(0, 9, 20)) {
              FasterKeyedStateBackend<Integer> third = backends.open(range, List.of(ofOne));
              model.of(range).check(ModelTimers.queue(third));
              ofThree.add(TestBackends.snapshot(third));
            }
            for (KeyGroupRange range : ranges(0, 15)) {
              FasterKeyedStateBackend<Integer> half = backends.open(range, ofThree);
              var queue = ModelTimers.queue(half);
              model.of(range).check(queue);
              model.of(range).drain(queue);
            }
          }
        });
  }

  private static List<KeyGroupRange> ranges(int... starts) {
    List<KeyGroupRange> ranges = new ArrayList<>();
    for (int i = 0; i < starts.length; i++) {
      int end = i + 1 < starts.length ? starts[i + 1] : TestBackends.KEY_GROUPS;
      ranges.add(KeyGroupRange.of(starts[i], end - 1));
    }
    return ranges;
  }

  /** The model must detect the behaviour of RocksDB's queue. */
  @Tag("slow")
  @Test
  void aQueueWhoseIteratorsSkipWhatIsEarlierThanTheLastPollIsCaught() throws Exception {
    try (TestBackends backends = new TestBackends(config(TimerPlace.STORE))) {
      var broken = Skipping.over(ModelTimers.queue(backends.open()));
      ModelTimers model = new ModelTimers(50);
      assertThatThrownBy(() -> model.change(broken, new SplittableRandom(5), 50_000))
          .isInstanceOf(AssertionError.class);
    }
  }

  /** A queue with that fault. */
  private static final class Skipping {
    @SuppressWarnings("unchecked")
    static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> over(
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> queue) {
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> broken =
          Mockito.mock(KeyGroupedInternalPriorityQueue.class, Mockito.withSettings().stubOnly());
      long[] last = {Long.MIN_VALUE};
      Mockito.when(broken.peek()).thenAnswer(call -> queue.peek());
      Mockito.when(broken.isEmpty()).thenAnswer(call -> queue.isEmpty());
      Mockito.when(broken.add(Mockito.any())).thenAnswer(call -> queue.add(call.getArgument(0)));
      Mockito.when(broken.remove(Mockito.any()))
          .thenAnswer(call -> queue.remove(call.getArgument(0)));
      Mockito.when(broken.poll())
          .thenAnswer(call -> {
            TimerHeapInternalTimer<Integer, String> polled = queue.poll();
            last[0] = polled == null ? last[0] : polled.getTimestamp();
            return polled;
          });
      Mockito.when(broken.size()).thenAnswer(call -> queue.size());
      Mockito.when(broken.iterator())
          .thenAnswer(call -> {
            List<TimerHeapInternalTimer<Integer, String>> later = new ArrayList<>();
            queue.iterator().forEachRemaining(later::add);
            later.removeIf(timer -> timer.getTimestamp() < last[0]);
            return CloseableIterator.adapterForIterator(later.iterator());
          });
      return broken;
    }
  }
}
