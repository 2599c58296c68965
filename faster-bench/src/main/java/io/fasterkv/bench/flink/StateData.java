package io.fasterkv.bench.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Keys and values, made beforehand and boxed, the same for every backend: set-up keys from 0 on,
 * new keys behind them, each in a random order.
 */
final class StateData {
  /** Elements that one addition of many adds to a list. */
  static final int LIST_ELEMENTS = 100;

  /** Entries of each set-up key's map. */
  static final int MAP_KEYS = 10;

  final Long[] setUpKeys;
  final Long[] newKeys;
  final Long[] values;
  final List<Long>[] singletons;
  final List<Long> manyValues;
  final Long[] mapKeys = new Long[MAP_KEYS];
  final Long[] absentMapKeys = new Long[MAP_KEYS];
  final Double[] mapValues = new Double[MAP_KEYS];
  final Map<Long, Double> manyEntries = new HashMap<>();

  @SuppressWarnings({"unchecked", "rawtypes"})
  StateData(int setUp, int added, long seed) {
    Random random = new Random(seed);
    setUpKeys = shuffled(0, setUp, random);
    newKeys = shuffled(setUp, added, random);
    values = shuffled(0, Math.max(setUp, added), random);
    singletons = new List[values.length];
    for (int i = 0; i < values.length; i++) {
      singletons[i] = List.of(values[i]);
    }
    manyValues = List.of(shuffled(0, LIST_ELEMENTS, random));
    for (int i = 0; i < MAP_KEYS; i++) {
      mapKeys[i] = (long) i;
      absentMapKeys[i] = (long) MAP_KEYS + i;
      mapValues[i] = random.nextDouble();
      manyEntries.put(mapKeys[i], random.nextDouble());
    }
  }

  private static Long[] shuffled(long first, int count, Random random) {
    List<Long> numbers = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      numbers.add(first + i);
    }
    Collections.shuffle(numbers, random);
    return numbers.toArray(Long[]::new);
  }

  int size() {
    return setUpKeys.length;
  }
}
