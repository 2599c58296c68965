package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests values of {@code -Dhuge.mebibytes=} MiB with pages of any size. Each value is read back and
 * compared byte for byte, from the store and from an incremental checkpoint.
 */
@Tag("long")
class HugeValueTest {
  private static final int BYTES = Integer.getInteger("huge.mebibytes", 20) << 20;
  private static final int SMALL_BYTES = 100;
  private static final long SEED = 5;

  private static final ValueStateDescriptor<byte[]> VALUE =
      new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
  private static final ListStateDescriptor<byte[]> LIST =
      new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE);
  private static final MapStateDescriptor<Integer, byte[]> MAP =
      new MapStateDescriptor<>(
          "map", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);

  @TempDir Path directory;

  /** The location of a huge value. The list and the map have small ones before and after it. */
  private enum Place {
    VALUE_STATE {
      @Override
      void put(FasterKeyedStateBackend<Integer> backend) throws Exception {
        ModelStates.state(backend, VALUE).update(huge());
      }

      @Override
      List<String> digests(FasterKeyedStateBackend<Integer> backend) throws Exception {
        return List.of(digest(ModelStates.state(backend, VALUE).value()));
      }

      @Override
      List<String> expected() throws Exception {
        return List.of(digest(huge()));
      }
    },
    LIST_ELEMENT {
      @Override
      void put(FasterKeyedStateBackend<Integer> backend) throws Exception {
        ListState<byte[]> list = ModelStates.state(backend, LIST);
        list.add(small(0));
        list.add(huge());
        list.add(small(2));
      }

      @Override
      List<String> digests(FasterKeyedStateBackend<Integer> backend) throws Exception {
        List<String> digests = new ArrayList<>();
        for (byte[] element : ModelStates.state(backend, LIST).get()) {
          digests.add(digest(element));
        }
        return digests;
      }
    },
    MAP_VALUE {
      @Override
      void put(FasterKeyedStateBackend<Integer> backend) throws Exception {
        MapState<Integer, byte[]> map = ModelStates.state(backend, MAP);
        map.put(0, small(0));
        map.put(1, huge());
        map.put(2, small(2));
      }

      @Override
      List<String> digests(FasterKeyedStateBackend<Integer> backend) throws Exception {
        MapState<Integer, byte[]> map = ModelStates.state(backend, MAP);
        return List.of(digest(map.get(0)), digest(map.get(1)), digest(map.get(2)));
      }
    };

    abstract void put(FasterKeyedStateBackend<Integer> backend) throws Exception;

    abstract List<String> digests(FasterKeyedStateBackend<Integer> backend) throws Exception;

    List<String> expected() throws Exception {
      return List.of(digest(small(0)), digest(huge()), digest(small(2)));
    }

    private static byte[] huge() {
      return Seeds.bytes(new SplittableRandom(SEED), BYTES);
    }

    private static byte[] small(int seed) {
      return Seeds.bytes(new SplittableRandom(seed), SMALL_BYTES);
    }

    private static String digest(byte[] value) throws Exception {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(value));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "VALUE_STATE, 4kb", "VALUE_STATE, default",
    "LIST_ELEMENT, 4kb", "LIST_ELEMENT, default",
    "MAP_VALUE, 4kb", "MAP_VALUE, default"
  })
  void aHugeValueIsReadBackByteForByte(Place place, String pageSize) throws Exception {
    List<String> expected = place.expected();
    try (TestBackends backends = new TestBackends(config(pageSize))) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      backend.setCurrentKey(1);
      place.put(backend);
      assertThat(place.digests(backend)).isEqualTo(expected);
      KeyedStateHandle handle =
          TestBackends.finish(
              TestBackends.start(backend, CheckpointFiles.below(directory.resolve("files"))));
      backend.dispose();

      FasterKeyedStateBackend<Integer> restored = backends.open(handle);
      restored.setCurrentKey(1);
      assertThat(place.digests(restored)).isEqualTo(expected);
    }
  }

  /** Writing and reading a small value makes scratch memory small again. */
  @ParameterizedTest
  @EnumSource(Place.class)
  void nothingOfAHugeValueStaysOnTheHeap(Place place) throws Exception {
    try (TestBackends backends = new TestBackends(config("default"))) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      long before = usedBytes();
      backend.setCurrentKey(1);
      place.put(backend);
      assertThat(place.digests(backend)).isEqualTo(place.expected());
      backend.setCurrentKey(2);
      ModelStates.state(backend, VALUE).update(new byte[SMALL_BYTES]);
      assertThat(ModelStates.state(backend, VALUE).value()).hasSize(SMALL_BYTES);
      assertThat(usedBytes() - before).isLessThan(BYTES / 2);
    }
  }

  private static long usedBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private Configuration config(String pageSize) throws Exception {
    Configuration config = TestSettings.ROOMY_INCREMENTAL.config();
    Path local = Files.createDirectories(directory.resolve("local"));
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(local.toString()));
    if (!pageSize.equals("default")) {
      config.set(TestSettings.PAGE_SIZE, MemorySize.parse(pageSize));
    }
    return config;
  }
}
