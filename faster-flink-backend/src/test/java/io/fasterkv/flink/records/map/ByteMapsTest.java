package io.fasterkv.flink.records.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.FasterStore;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.DeadParts;
import io.fasterkv.flink.records.LiveRecords;
import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.Records;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("seeds")
class ByteMapsTest {
  private static final int KEYS = 4;

  @TempDir Path directory;

  @Test
  void behavesLikeAHashMap() throws Throwable {
    Seeds.run(
        8,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            new Model(test, random).run(3_000);
          }
        });
  }

  /** Maps under several keys, and the expected contents in maps of java.util. */
  private static final class Model {
    private final TestRecords test;
    private final ByteMaps maps;
    private final SplittableRandom random;
    private final int userKeys;
    private final List<Map<ByteBuffer, ByteBuffer>> expected = new ArrayList<>();
    private final Bytes read = new Bytes();

    Model(TestRecords test, SplittableRandom random) {
      this.test = test;
      this.maps = test.records.maps();
      this.random = random;
      this.userKeys = 1 << random.nextInt(2, 10);
      for (int i = 0; i < KEYS; i++) {
        expected.add(new HashMap<>());
      }
    }

    void run(int steps) {
      int last = 0;
      for (int step = 0; step < steps; step++) {
        // Often picks the same map as before, whose head is kept.
        int number = random.nextInt(3) == 0 ? random.nextInt(KEYS) : last;
        last = number;
        int kind = random.nextInt(1_000);
        if (kind < 580) {
          put(number);
        } else if (kind < 600) {
          putAll(number);
        } else if (kind < 750) {
          remove(number);
        } else if (kind < 970) {
          get(number);
        } else if (kind < 985) {
          compare(number);
        } else if (kind < 994) {
          removeWhileIterating(number);
        } else if (kind < 998) {
          growWhileIterating(number);
        } else {
          clear(number);
        }
      }
      for (int number = 0; number < KEYS; number++) {
        compare(number);
        clear(number);
        compare(number);
      }
    }

    private byte[] userKey(int number) {
      SplittableRandom fixed = new SplittableRandom(number * 31L);
      int length = number % 40 == 0 ? 1 + fixed.nextInt(3_000) : 2 + fixed.nextInt(24);
      byte[] bytes = Seeds.bytes(fixed, Math.max(4, length));
      ByteBuffer.wrap(bytes).putInt(0, number);
      return bytes;
    }

    private byte[] value() {
      int kind = random.nextInt(100);
      int length =
          kind < 70
              ? random.nextInt(20)
              : kind < 90 ? random.nextInt(260) : kind < 98 ? random.nextInt(2_000) : 9_000;
      return Seeds.bytes(random, length);
    }

    private void put(int number) {
      putInto(number, userKey(random.nextInt(userKeys)));
    }

    private void putInto(int number, byte[] userKey) {
      byte[] value = value();
      byte[] both = Arrays.copyOf(userKey, userKey.length + value.length);
      System.arraycopy(value, 0, both, userKey.length, value.length);
      maps.put(test.key(number), both, userKey.length, value.length);
      expected.get(number).put(ByteBuffer.wrap(userKey), ByteBuffer.wrap(value));
    }

    private void putAll(int number) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      EntryBatch batch = new EntryBatch();
      for (int i = random.nextInt(30); i >= 0; i--) {
        byte[] userKey = userKey(random.nextInt(userKeys));
        byte[] value = value();
        all.writeBytes(userKey);
        int keyEnd = all.size();
        all.writeBytes(value);
        batch.add(keyEnd, all.size());
        expected.get(number).put(ByteBuffer.wrap(userKey), ByteBuffer.wrap(value));
      }
      maps.putAll(test.key(number), batch.in(all.toByteArray()));
    }

    private void remove(int number) {
      byte[] userKey = userKey(random.nextInt(userKeys));
      boolean removed = maps.remove(test.key(number), userKey, 0, userKey.length);
      assertThat(removed).isEqualTo(expected.get(number).remove(ByteBuffer.wrap(userKey)) != null);
    }

    private void get(int number) {
      byte[] userKey = userKey(random.nextInt(userKeys));
      boolean found = maps.get(test.key(number), userKey, 0, userKey.length, read);
      ByteBuffer value = expected.get(number).get(ByteBuffer.wrap(userKey));
      assertThat(found).isEqualTo(value != null);
      if (found) {
        assertThat(Arrays.copyOf(read.array(), read.length())).isEqualTo(value.array());
      }
    }

    private void clear(int number) {
      maps.clear(test.key(number));
      expected.get(number).clear();
    }

    private void compare(int number) {
      Map<ByteBuffer, ByteBuffer> seen = new HashMap<>();
      MapCursor cursor = maps.entries(test.key(number));
      while (cursor != null && cursor.next()) {
        assertThat(seen.put(keyOf(cursor), valueOf(cursor))).isNull();
      }
      assertThat(seen).isEqualTo(expected.get(number));
      assertThat(maps.isEmpty(test.key(number))).isEqualTo(seen.isEmpty());
    }

    private void removeWhileIterating(int number) {
      MapCursor cursor = maps.entries(test.key(number));
      while (cursor != null && cursor.next()) {
        if (random.nextInt(3) == 0) {
          byte[] userKey = keyOf(cursor).array();
          CompositeKey key = cursor.key();
          assertThat(maps.remove(key, userKey, 0, userKey.length)).isTrue();
          expected.get(number).remove(ByteBuffer.wrap(userKey));
        }
      }
      compare(number);
    }

    private void growWhileIterating(int number) {
      Set<ByteBuffer> untouched = new HashSet<>(expected.get(number).keySet());
      Set<ByteBuffer> seen = new HashSet<>();
      MapCursor cursor = maps.entries(test.key(number));
      int added = userKeys;
      while (cursor != null && cursor.next()) {
        assertThat(seen.add(keyOf(cursor))).isTrue();
        for (int i = 0; i < 3 && added < userKeys + 400; i++) {
          byte[] userKey = userKey(added++);
          putInto(number, userKey);
          untouched.remove(ByteBuffer.wrap(userKey));
        }
      }
      assertThat(seen).containsAll(untouched);
      compare(number);
    }

    private static ByteBuffer keyOf(MapCursor cursor) {
      int at = cursor.keyAt();
      return ByteBuffer.wrap(Arrays.copyOfRange(cursor.bytes(), at, at + cursor.keyLength()));
    }

    private static ByteBuffer valueOf(MapCursor cursor) {
      int at = cursor.valueAt();
      return ByteBuffer.wrap(Arrays.copyOfRange(cursor.bytes(), at, at + cursor.valueLength()));
    }
  }

  @Test
  void aMapThatLosesAllItsEntriesLeavesNoRecords() {
    try (TestRecords test = new TestRecords(directory)) {
      ByteMaps maps = test.records.maps();
      for (int i = 0; i < 2_000; i++) {
        byte[] entry = ByteBuffer.allocate(8).putInt(i).putInt(i).array();
        maps.put(test.key(1), entry, 4, 4);
      }
      byte[] large = new byte[50_000];
      maps.put(test.key(1), large, 4, large.length - 4);
      for (int i = 0; i < 2_000; i++) {
        maps.remove(test.key(1), ByteBuffer.allocate(4).putInt(i).array(), 0, 4);
      }
      assertThat(maps.isEmpty(test.key(1))).isTrue();
      assertThat(LiveRecords.count(test)).isZero();
    }
  }

  /** Removals delete the head with the last bucket, so the head counts the buckets. */
  @Test
  void theStoredHeadCountsItsBuckets() throws Throwable {
    Seeds.run(
        4,
        random -> {
          try (TestRecords test = new TestRecords(directory)) {
            ByteMaps maps = test.records.maps();
            for (int i = 0; i < 6_000; i++) {
              // Entries of up to half a kilobyte, first more and more, then less and less.
              int userKey = random.nextInt(400);
              if (random.nextInt(6_000) < i) {
                maps.remove(test.key(1), ByteBuffer.allocate(4).putInt(userKey).array(), 0, 4);
              } else {
                int length = random.nextInt(4) == 0 ? random.nextInt(500) : 4;
                byte[] entry = ByteBuffer.allocate(4 + length).putInt(userKey).array();
                maps.put(test.key(1), entry, 4, length);
              }
              if (i % 7 == 0) {
                compareUsed(test);
              }
            }
          }
        });
  }

  private static void compareUsed(TestRecords test) {
    MapHead head = new MapHead();
    try (Records other = new Records(test.store, test.incarnations)) {
      if (other.read(test.key(1).head(), head.block()) && head.hasBuckets()) {
        assertThat(head.used()).isEqualTo(storedBuckets(test, other, head)).isPositive();
      }
    }
  }

  private static int storedBuckets(TestRecords test, Records records, MapHead head) {
    int stored = 0;
    for (int bucket = 0; bucket < head.buckets(); bucket++) {
      boolean isStored =
          records.hasPart(test.key(1).record(MapLayout.FIRST_BUCKET + bucket), head.incarnation());
      stored += isStored ? 1 : 0;
    }
    return stored;
  }

  /**
   * Two entries that meet make their bucket crowded, since one is longer than a bucket should be.
   */
  @Test
  void aQueueOfLargeEntriesHasAtMostTwiceTheBucketsItUses() {
    int entries = 40;
    int large = 1_300;
    try (TestRecords test = new TestRecords(directory, 16 << 20, 64 << 10)) {
      ByteMaps maps = test.records.maps();
      for (int i = 0; i < 20_000; i++) {
        maps.put(test.key(1), ByteBuffer.allocate(4 + large).putInt(i).array(), 4, large);
        if (i >= entries) {
          maps.remove(test.key(1), ByteBuffer.allocate(4).putInt(i - entries).array(), 0, 4);
        }
      }
      assertThat(storedHead(test).buckets()).isLessThanOrEqualTo(2 * entries);
    }
  }

  /** A long bucket splits the next one only if that one is long too. */
  @Tag("slow")
  @Test
  void aMapThatDoesNotGrowGetsNoMoreBuckets() {
    try (TestRecords test = new TestRecords(directory)) {
      ByteMaps maps = test.records.maps();
      int large = 200;
      for (int i = 0; i < 400; i++) {
        maps.put(test.key(1), ByteBuffer.allocate(4 + large).putInt(i).array(), 4, large);
      }
      long splits = 0;
      for (int round = 0; round < 60; round++) {
        for (int i = round % 3; i < 400; i += 3) {
          maps.remove(test.key(1), ByteBuffer.allocate(4).putInt(i).array(), 0, 4);
        }
        for (int i = round % 3; i < 400; i += 3) {
          maps.put(test.key(1), ByteBuffer.allocate(4 + large).putInt(i).array(), 4, large);
        }
        if (round == 30) {
          splits = maps.splits();
        }
      }
      assertThat(maps.splits() - splits).isLessThan(splits / 20);
    }
  }

  /** The write fails after the count in the copy of the head has changed. */
  @Test
  void aHeadIsNotKeptAfterItsWriteHasFailed() {
    FailingRecords[] failing = new FailingRecords[1];
    try (TestRecords test =
        new TestRecords(
            directory,
            192 << 10,
            4 << 10,
            DeadParts::new,
            true,
            (store, incarnations) -> {
              failing[0] = new FailingRecords(store, incarnations);
              return new StateRecords(failing[0], state -> null);
            })) {
      ByteMaps maps = test.records.maps();
      for (int i = 0; i < 1_000; i++) {
        putNumber(maps, test.key(1), i);
      }
      MapHead full = storedHead(test);
      removeBucket(maps, test.key(1), full.buckets(), 0);
      assertThat(storedHead(test).used()).isEqualTo(full.used() - 1);

      failing[0].fails = true;
      int removed = full.used() - 2;
      assertThatThrownBy(() -> removeBucket(maps, test.key(1), full.buckets(), 1))
          .hasMessage("planted");
      failing[0].fails = false;
      // The copy had also counted the bucket whose count was not stored.
      removeBucket(maps, test.key(1), full.buckets(), 2);
      assertThat(storedHead(test).used()).isEqualTo(removed);
    }
  }

  /** Removes all numbers that one bucket has. */
  private static void removeBucket(ByteMaps maps, CompositeKey key, int buckets, int bucket) {
    for (int i = 0; i < 1_000; i++) {
      byte[] userKey = ByteBuffer.allocate(4).putInt(i).array();
      if (MapLayout.bucketOf(UserKey.hash(userKey, 0, 4), buckets) == bucket) {
        maps.remove(key, userKey, 0, 4);
      }
    }
  }

  private static void putNumber(ByteMaps maps, CompositeKey key, int number) {
    maps.put(key, ByteBuffer.allocate(8).putInt(number).array(), 4, 4);
  }

  private static MapHead storedHead(TestRecords test) {
    MapHead head = new MapHead();
    try (Records other = new Records(test.store, test.incarnations)) {
      assertThat(other.read(test.key(1).head(), head.block())).isTrue();
    }
    return head;
  }

  /** Fails to write whole heads and buckets while {@link #fails} is set. */
  private static final class FailingRecords extends Records {
    private boolean fails;

    FailingRecords(FasterStore store, ValueIncarnations incarnations) {
      super(store, incarnations);
    }

    @Override
    public void put(ByteSpan key, Bytes value, int capacity) {
      if (fails) {
        throw new IllegalStateException("planted");
      }
      super.put(key, value, capacity);
    }
  }

  /** The remains of an entry whose run has expired do not prevent adding the entry again. */
  @Test
  void anEntryAddedAgainAfterOneWithAnExpiredRunIsFound() {
    for (int valueBytes : new int[] {1, 30}) {
      try (TestRecords test = new TestRecords(directory)) {
        ByteMaps maps = test.records.maps();
        test.incarnations.noteTimed(1);
        byte[] large = new byte[50_000];
        maps.put(test.key(1), large, 4, large.length - 4);
        for (int sub = MapLayout.FIRST_RUN; sub < MapLayout.FIRST_RUN + 60; sub++) {
          test.delete(1, sub);
        }
        byte[] again = new byte[4 + valueBytes];
        Arrays.fill(again, 4, again.length, (byte) 7);
        maps.put(test.key(1), again, 4, valueBytes);

        Bytes value = new Bytes();
        assertThat(maps.get(test.key(1), again, 0, 4, value)).isTrue();
        assertThat(Arrays.copyOf(value.array(), value.length()))
            .isEqualTo(Arrays.copyOfRange(again, 4, again.length));
        assertThat(maps.remove(test.key(1), again, 0, 4)).isTrue();
        assertThat(maps.get(test.key(1), again, 0, 4, value)).isFalse();
      }
    }
  }

  @Test
  void smallMapsAreIteratedInTheOrderOfTheirKeys() {
    try (TestRecords test = new TestRecords(directory)) {
      ByteMaps maps = test.records.maps();
      for (int i = 4_000; i > 0; i--) {
        byte[] entry = ByteBuffer.allocate(8).putInt(i).putInt(i).array();
        maps.put(test.key(1), entry, 4, 4);
      }
      MapCursor cursor = maps.entries(test.key(1));
      for (int i = 1; cursor.next(); i++) {
        assertThat(ByteBuffer.wrap(cursor.bytes(), cursor.keyAt(), 4).getInt()).isEqualTo(i);
      }
    }
  }

  @Test
  void bucketsAreSpreadByLinearHashing() throws Throwable {
    Seeds.run(
        50,
        random -> {
          long hash = random.nextLong();
          for (int buckets = 1; buckets < 300; buckets++) {
            int bucket = MapLayout.bucketOf(hash, buckets);
            int after = MapLayout.bucketOf(hash, buckets + 1);
            assertThat(bucket).isBetween(0, buckets - 1);
            int split = buckets - Integer.highestOneBit(buckets);
            assertThat(after == bucket || after == buckets && bucket == split).isTrue();
          }
        });
  }
}
