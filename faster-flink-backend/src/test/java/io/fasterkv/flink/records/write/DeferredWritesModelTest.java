package io.fasterkv.flink.records.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.records.base.Values;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.list.ListSnapshot;
import io.fasterkv.flink.records.map.ByteMaps;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests sequences of writes that may be buffered, with reads in between, against java.util maps.
 */
@Tag("seeds")
class DeferredWritesModelTest {
  private static final int SEEDS = 8;
  private static final int STEPS = 6_000;
  private static final int KEYS = 12;
  private static final int LISTS = 20;
  private static final int MAPS = 40;

  @TempDir Path directory;

  @Test
  void readsSeeAllWritesBeforeThem() throws Throwable {
    Seeds.run(
        SEEDS,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            StateRecords records = test.records;
            new Model(test, random, records::values, records::lists, records::maps).run();
          }
        });
  }

  /** The broken variant: a caller that keeps the readers does not settle buffered writes. */
  @Test
  void detectsCallersThatKeepTheReaders() throws Throwable {
    Seeds.run(
        SEEDS,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            Values values = test.records.values();
            ByteLists lists = test.records.lists();
            ByteMaps maps = test.records.maps();
            Model model = new Model(test, random, () -> values, () -> lists, () -> maps);
            assertThatThrownBy(model::run).isInstanceOf(AssertionError.class);
          }
        });
  }

  private static final class Model {
    private final TestRecords test;
    private final SplittableRandom random;
    private final Supplier<Values> readValues;
    private final Supplier<ByteLists> readLists;
    private final Supplier<ByteMaps> readMaps;
    private final Map<Integer, byte[]> values = new HashMap<>();
    private final Map<Integer, ByteArrayOutputStream> lists = new HashMap<>();
    private final Map<Integer, Map<Byte, byte[]>> maps = new HashMap<>();
    private final Bytes read = new Bytes();

    /** One in this many operations is a read. */
    private final int readOneIn;

    Model(
        TestRecords test,
        SplittableRandom random,
        Supplier<Values> readValues,
        Supplier<ByteLists> readLists,
        Supplier<ByteMaps> readMaps) {
      this.test = test;
      this.random = random;
      this.readValues = readValues;
      this.readLists = readLists;
      this.readMaps = readMaps;
      this.readOneIn = 1 << random.nextInt(3, 7);
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        int number = random.nextInt(KEYS);
        if (random.nextInt(readOneIn) == 0) {
          compare(number);
        } else {
          write(number);
        }
      }
      for (int number = 0; number < KEYS; number++) {
        compare(number);
      }
    }

    private byte[] some() {
      int kind = random.nextInt(100);
      int length =
          kind < 80
              ? random.nextInt(40)
              : kind < 97 ? random.nextInt(1_500) : random.nextInt(9_000);
      return Seeds.bytes(random, 1 + length);
    }

    private void write(int number) {
      byte[] bytes = some();
      int pad = random.nextInt(4);
      StateWrites writes = test.records.writes();
      switch (random.nextInt(12)) {
        case 0, 1 -> {
          byte[] source = padded(pad + ValueLayout.TAG_BYTES, bytes);
          writes.putValue(test.key(number), source, pad, ValueLayout.TAG_BYTES + bytes.length);
          values.put(number, bytes);
          Arrays.fill(source, (byte) 0);
        }
        case 2 -> {
          writes.removeValue(test.key(number));
          values.remove(number);
        }
        case 3 -> {
          writes.setList(test.key(LISTS + number), padded(pad, bytes), pad, bytes.length);
          lists.put(number, new ByteArrayOutputStream());
          lists.get(number).writeBytes(bytes);
        }
        case 4, 5, 6 -> {
          writes.append(test.key(LISTS + number), padded(pad, bytes), pad, bytes.length);
          if (lists.containsKey(number)) {
            lists.get(number).write(ListLayout.SEPARATOR);
          }
          lists.computeIfAbsent(number, n -> new ByteArrayOutputStream()).writeBytes(bytes);
        }
        case 7 -> {
          if (random.nextInt(4) == 0) {
            writes.removeList(test.key(LISTS + number));
            lists.remove(number);
          }
        }
        case 8, 9 -> {
          byte userKey = (byte) random.nextInt(20);
          byte[] source = padded(pad + 1, bytes);
          source[pad] = userKey;
          writes.putEntry(test.key(MAPS + number), source, pad, 1, bytes.length);
          maps.computeIfAbsent(number, n -> new HashMap<>()).put(userKey, bytes);
        }
        case 10 -> {
          byte userKey = (byte) random.nextInt(20);
          writes.removeEntry(test.key(MAPS + number), new byte[] {0, userKey}, 1, 1);
          maps.computeIfAbsent(number, n -> new HashMap<>()).remove(userKey);
        }
        default -> {
          if (random.nextInt(10) == 0) {
            writes.clearMap(test.key(MAPS + number));
            maps.remove(number);
          }
        }
      }
    }

    private static byte[] padded(int pad, byte[] bytes) {
      return ByteBuffer.allocate(pad + bytes.length).put(pad, bytes).array();
    }

    private void compare(int number) {
      switch (random.nextInt(3)) {
        case 0 -> compareValue(number);
        case 1 -> compareList(number);
        default -> compareMap(number);
      }
    }

    private void compareValue(int number) {
      boolean found = readValues.get().get(test.key(number), read);
      byte[] value =
          found ? Arrays.copyOfRange(read.array(), ValueLayout.TAG_BYTES, read.length()) : null;
      assertThat(value).isEqualTo(values.get(number));
    }

    private void compareList(int number) {
      ListSnapshot chunks = readLists.get().read(test.key(LISTS + number));
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      Bytes group = new Bytes();
      for (int next = chunks == null ? ListSnapshot.END : ListSnapshot.FIRST;
          next != ListSnapshot.END; ) {
        next = chunks.readGroup(next, group);
        if (all.size() > 0 && group.length() > 0) {
          all.write(ListLayout.SEPARATOR);
        }
        all.write(group.array(), 0, group.length());
      }
      ByteArrayOutputStream expected = lists.get(number);
      assertThat(all.toByteArray())
          .isEqualTo(expected == null ? new byte[0] : expected.toByteArray());
    }

    private void compareMap(int number) {
      Map<Byte, byte[]> expected = maps.getOrDefault(number, Map.of());
      ByteMaps actual = readMaps.get();
      for (byte userKey = 0; userKey < 20; userKey++) {
        byte[] key = {userKey};
        boolean found = actual.get(test.key(MAPS + number), key, 0, 1, read);
        byte[] value = found ? Arrays.copyOf(read.array(), read.length()) : null;
        assertThat(value).isEqualTo(expected.get(userKey));
      }
      assertThat(actual.isEmpty(test.key(MAPS + number))).isEqualTo(expected.isEmpty());
    }
  }
}
