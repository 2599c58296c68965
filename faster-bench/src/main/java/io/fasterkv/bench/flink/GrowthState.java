package io.fasterkv.bench.flink;

import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/** Small state, and how it changes between two checkpoints. */
enum GrowthState {
  /** All of 1,000 longs. */
  longs {
    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      ValueState<Long> state =
          opened.state(new ValueStateDescriptor<>("longs", LongSerializer.INSTANCE));
      return round -> {
        for (long key = 0; key < 1_000; key++) {
          opened.backend().setCurrentKey(key);
          state.update(key * round);
        }
      };
    }
  },
  /** All of 300 objects, and their lengths. */
  objects {
    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      ValueState<Visit> state =
          opened.state(new ValueStateDescriptor<>("objects", TypeInformation.of(Visit.class)));
      return round -> {
        for (long key = 0; key < 300; key++) {
          opened.backend().setCurrentKey(key);
          state.update(
              new Visit("user " + key, round, "/page".repeat((int) (10 + (key + round) % 4))));
        }
      };
    }
  },
  /** Of 2,000 timers 500 fire, and 500 are registered. */
  timers {
    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      KeyedStateBackend<Long> backend = opened.backend();
      KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> queue =
          backend.create(
              "timers",
              new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
      return round -> {
        for (int i = 0; round > 1 && i < 500; i++) {
          queue.poll();
        }
        long first = round == 1 ? 0 : 1_500 + 500 * (round - 1);
        for (long time = first; time < 1_500 + 500 * round; time++) {
          queue.add(new TimerHeapInternalTimer<>(time, time % 977, VoidNamespace.INSTANCE));
        }
      };
    }
  },
  /** One in four of the 4,000 entries of 40 maps. */
  maps {
    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      MapState<Long, Long> state =
          opened.state(
              new MapStateDescriptor<>("maps", LongSerializer.INSTANCE, LongSerializer.INSTANCE));
      return round -> {
        for (long key = 0; key < 40; key++) {
          opened.backend().setCurrentKey(key);
          for (long entry = 0; entry < 100; entry++) {
            if (round == 1 || (entry + round) % 4 == 0) {
              state.put(entry, key * round);
            }
          }
        }
      };
    }
  },
  /** Of 20,000 longs the same 180, and 20 others. */
  fewOfMany {
    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      ValueState<Long> state =
          opened.state(new ValueStateDescriptor<>("longs", LongSerializer.INSTANCE));
      ToLongFunction<Long> other = number -> number * 0x9E3779B97F4A7C15L >>> 1;
      return round -> {
        for (long i = 0; i < (round == 1 ? 20_000 : 200); i++) {
          boolean isSame = round == 1 || i % 10 > 0;
          opened.backend().setCurrentKey(isSame ? i : other.applyAsLong(round * 200 + i) % 20_000);
          state.update(i * round);
        }
      };
    }
  },
  /** 300,000 values of 1,000 random bytes, of which any 4,000 change; fewer checkpoints. */
  megabytes {
    private static final int VALUES = 300_000;

    @Override
    Change open(OpenBackend<Long> opened) throws Exception {
      ValueState<byte[]> state =
          opened.state(
              new ValueStateDescriptor<>(
                  "values", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
      SplittableRandom random = new SplittableRandom(1);
      return round -> {
        for (long i = 0; i < (round == 1 ? VALUES : 4_000); i++) {
          opened.backend().setCurrentKey(round == 1 ? i : random.nextLong(VALUES));
          byte[] value = new byte[1_000];
          random.nextBytes(value);
          state.update(value);
        }
      };
    }

    @Override
    long memoryBytes() {
      return 2L << 30;
    }

    @Override
    int mostCheckpoints() {
      return 300;
    }
  };

  /** A user's object, like a job's own class. */
  public static final class Visit {
    public String name = "";
    public long count;
    public String page = "";

    /** For the serializer. */
    public Visit() {}

    Visit(String name, long count, String page) {
      this.name = name;
      this.count = count;
      this.page = page;
    }
  }

  /** Changes the state. */
  @FunctionalInterface
  interface Change {
    /** Changes the state before a checkpoint; checkpoints are counted from 1. */
    void before(long checkpoint) throws Exception;
  }

  /** Managed memory of the backend. */
  long memoryBytes() {
    return 64L << 20;
  }

  int mostCheckpoints() {
    return Integer.MAX_VALUE;
  }

  abstract Change open(OpenBackend<Long> opened) throws Exception;
}
