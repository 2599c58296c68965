package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.statistics.CompactionStats;
import io.fasterkv.flink.TestSettings;
import java.util.SplittableRandom;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that checkpoints of small state stay small, no matter how many are taken. */
class CheckpointGrowthTest extends IncrementalCheckpoints {
  private static final int CHECKPOINTS = 200;
  private static final int MANY_CHECKPOINTS = 2_000;
  private static final long SLACK_BYTES = 256 << 10;

  /** The limit for a log of less than 64 MiB, including the metadata file. */
  private static final int MOST_FILES = 32;

  /** A user's object with fields of several types. */
  public static final class Visit {
    public String name = "";
    public long count;
    public double sum;
    public String page = "";
  }

  /** A kind of state and how it changes between two checkpoints. */
  enum Workload {
    /** All of 1,000 longs change. */
    HOT_LONGS {
      @Override
      void change(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Long> state = state(backend, LONG);
        for (int key = 0; key < 1_000; key++) {
          backend.setCurrentKey(key);
          state.update((long) key * round);
        }
      }

      @Override
      void check(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Long> state = state(backend, LONG);
        for (int key = 0; key < 1_000; key++) {
          backend.setCurrentKey(key);
          assertThat(state.value()).isEqualTo((long) key * round);
        }
      }
    },

    /** All of 300 objects change, and their lengths. */
    OBJECTS {
      @Override
      void change(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Visit> state = state(backend, OBJECT);
        for (int key = 0; key < 300; key++) {
          backend.setCurrentKey(key);
          state.update(visit(key, round));
        }
      }

      private static Visit visit(int key, int round) {
        Visit visit = new Visit();
        visit.name = "user " + key;
        visit.count = round;
        visit.sum = round * 0.5;
        visit.page = "/page".repeat(10 + (key + round) % 4);
        return visit;
      }

      @Override
      void check(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Visit> state = state(backend, OBJECT);
        for (int key = 0; key < 300; key++) {
          backend.setCurrentKey(key);
          assertThat(state.value()).usingRecursiveComparison().isEqualTo(visit(key, round));
        }
      }
    },

    /** Of 2,000 timers, 500 fire and 500 are registered. */
    TIMERS {
      @Override
      void change(FasterKeyedStateBackend<Integer> backend, int round) {
        var queue = ModelTimers.queue(backend);
        for (int i = 0; round > 1 && i < 500; i++) {
          queue.poll();
        }
        int first = round == 1 ? 0 : 1_500 + 500 * (round - 1);
        for (int time = first; time < 1_500 + 500 * round; time++) {
          queue.add(new TimerHeapInternalTimer<>(time, time % 977, "window"));
        }
      }

      @Override
      void check(FasterKeyedStateBackend<Integer> backend, int round) {
        var queue = ModelTimers.queue(backend);
        for (int time = 500 * (round - 1); time < 1_500 + 500 * round; time++) {
          assertThat(queue.poll().getTimestamp()).isEqualTo(time);
        }
        assertThat(queue.isEmpty()).isTrue();
      }
    },

    /** In 40 maps with 100 entries each, one entry in four changes. */
    MAPS {
      @Override
      void change(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        MapState<Integer, Long> state = state(backend, MAP);
        for (int key = 0; key < 40; key++) {
          backend.setCurrentKey(key);
          for (int entry = 0; entry < 100; entry++) {
            if (round == 1 || (entry + round) % 4 == 0) {
              state.put(entry, (long) key * round);
            }
          }
        }
      }

      @Override
      void check(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        MapState<Integer, Long> state = state(backend, MAP);
        for (int key = 0; key < 40; key++) {
          backend.setCurrentKey(key);
          for (int entry = 0; entry < 100; entry++) {
            int last = round - (entry + round) % 4;
            assertThat(state.get(entry)).isEqualTo((long) key * Math.max(1, last));
          }
        }
      }
    },

    /** Of 20,000 longs, 200 change, most of them in every round. */
    FEW_OF_MANY {
      @Override
      void change(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Long> state = state(backend, LONG);
        SplittableRandom random = new SplittableRandom(round);
        for (int i = 0; i < (round == 1 ? 20_000 : 200); i++) {
          int key = round == 1 || i % 10 > 0 ? i : random.nextInt(20_000);
          backend.setCurrentKey(key);
          state.update(key * 3L);
        }
      }

      @Override
      void check(FasterKeyedStateBackend<Integer> backend, int round) throws Exception {
        ValueState<Long> state = state(backend, LONG);
        for (int key = 0; key < 20_000; key++) {
          backend.setCurrentKey(key);
          assertThat(state.value()).isEqualTo(key * 3L);
        }
      }
    };

    private static final ValueStateDescriptor<Long> LONG =
        new ValueStateDescriptor<>("long", LongSerializer.INSTANCE);
    private static final ValueStateDescriptor<Visit> OBJECT =
        new ValueStateDescriptor<>("object", TypeInformation.of(Visit.class));
    private static final MapStateDescriptor<Integer, Long> MAP =
        new MapStateDescriptor<>("map", IntSerializer.INSTANCE, LongSerializer.INSTANCE);

    /** Changes the state. Rounds are counted from 1. */
    abstract void change(FasterKeyedStateBackend<Integer> backend, int round) throws Exception;

    abstract void check(FasterKeyedStateBackend<Integer> backend, int round) throws Exception;

    private static <S extends State> S state(
        FasterKeyedStateBackend<Integer> backend, StateDescriptor<S, ?> descriptor)
        throws Exception {
      return backend.getPartitionedState(
          VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void checkpointsStaySmall(Workload workload) throws Exception {
    run(workload, CHECKPOINTS);
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void manyCheckpointsStaySmall(Workload workload) throws Exception {
    run(workload, MANY_CHECKPOINTS);
  }

  private void run(Workload workload, int checkpoints) throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.ROOMY_INCREMENTAL);
    long changed = 0;
    long most = 0;
    IncrementalRemoteKeyedStateHandle handle = null;
    for (int round = 1; round <= checkpoints; round++) {
      long written = written(backend);
      workload.change(backend, round);
      changed += written(backend) - written;
      handle = take(backend);
      most = Math.max(most, handle.getStateSize());
      assertThat(handle.getSharedState().size() + 1).isLessThanOrEqualTo(MOST_FILES);
    }
    assertThat(uploadedBytes()).isLessThanOrEqualTo(changed / 10 * 22 + checkpoints * SLACK_BYTES);
    assertThat(most).isLessThanOrEqualTo(2 * liveBytes(backend) + SLACK_BYTES);
    backend.dispose();
    workload.check(backends.open(handle), checkpoints);
  }

  /** The length of the log after a complete compaction. */
  private long liveBytes(FasterKeyedStateBackend<Integer> backend) throws Exception {
    backend.store().log().compact();
    return take(backend).getStateSize();
  }

  /** Bytes that the task has written. */
  private static long written(FasterKeyedStateBackend<Integer> backend) {
    CompactionStats stats = backend.store().statistics().compaction();
    return backend.store().log().tailAddress() - stats.movedBytes();
  }
}
