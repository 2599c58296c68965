package io.fasterkv.bench.flink;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Keys and values, made beforehand, the same for every backend: set-up keys from 0 on, new keys
 * behind them, each in a random order. They are boxed at each call, as by Flink's benchmarks: boxes
 * made beforehand would lie in memory as their numbers do, and each call would wait for two.
 */
final class StateData {
  /** Elements that one addition of many adds to a list. */
  static final int LIST_ELEMENTS = 100;

  /** Entries of each set-up key's map. */
  static final int MAP_KEYS = 10;

  private final Random random;
  final long[] setUpKeys;
  final long[] newKeys;
  final long[] values;
  final List<Long> manyValues;
  final long[] mapKeys = LongStream.range(0, MAP_KEYS).toArray();
  final long[] absentMapKeys = LongStream.range(MAP_KEYS, 2 * MAP_KEYS).toArray();
  final double[] mapValues = new double[MAP_KEYS];
  final Map<Long, Double> manyEntries = new HashMap<>();

  StateData(int setUp, int added, long seed) {
    random = new Random(seed);
    setUpKeys = shuffled(0, setUp, random);
    newKeys = shuffled(setUp, added, random);
    values = shuffled(0, Math.max(setUp, added), random);
    manyValues = random.longs(LIST_ELEMENTS).boxed().toList();
    for (int i = 0; i < MAP_KEYS; i++) {
      mapValues[i] = random.nextDouble();
      manyEntries.put(mapKeys[i], random.nextDouble());
    }
  }

  private static long[] shuffled(long first, int count, Random random) {
    List<Long> numbers =
        LongStream.range(first, first + count).boxed().collect(Collectors.toList());
    Collections.shuffle(numbers, random);
    return numbers.stream().mapToLong(Long::longValue).toArray();
  }

  /**
   * Has the set-up keys asked for in another order from now on. A log in which records lie as they
   * were last written is read as it lies if that is done in the same order again, and no user does
   * that. Each key keeps its value, and the rest of its place by {@link #MAP_KEYS}, that is its
   * entry: what a state holds after a pass does not depend on the order.
   */
  void reorder() {
    for (int place = setUpKeys.length - 1; place >= MAP_KEYS; place--) {
      int other = place - MAP_KEYS * random.nextInt(place / MAP_KEYS + 1);
      swap(setUpKeys, place, other);
      swap(values, place, other);
    }
  }

  private static void swap(long[] numbers, int one, int other) {
    long kept = numbers[one];
    numbers[one] = numbers[other];
    numbers[other] = kept;
  }

  int size() {
    return setUpKeys.length;
  }
}
