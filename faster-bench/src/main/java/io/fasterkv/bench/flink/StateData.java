package io.fasterkv.bench.flink;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Keys and values, generated in advance, the same for every backend: set-up keys from 0 on, then
 * new keys, each in a random order. They are boxed at each call, as in Flink's benchmarks: boxes
 * created in advance would be in memory in the order of their numbers, and each call would wait for
 * two cache misses.
 */
final class StateData {
  /** Number of elements in one addition of many to a list. */
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
   * Makes later calls use the set-up keys in another order. In a log whose records are in the order
   * of their last writes, repeating the same order would read sequentially, which real applications
   * do not do. Each key keeps its value, and the remainder of its index by {@link #MAP_KEYS}, which
   * is its entry: so the contents of a state after a pass do not depend on the order.
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
