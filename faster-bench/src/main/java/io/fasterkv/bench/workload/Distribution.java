package io.fasterkv.bench.workload;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/** How often which keys are chosen. */
public enum Distribution {
  /** All equally often. */
  UNIFORM,
  /** By Zipf's law with theta 0.99; the frequent keys are scattered. */
  ZIPF,
  /**
   * Nine in ten on a fifth of the keys. That fifth moves over all keys once during a stream of
   * keys; its members are scattered.
   */
  HOTSET;

  private static final double ZIPF_THETA = 0.99;
  private static final double HOT_CHOICES = 0.9;
  private static final double HOT_KEYS = 0.2;

  /**
   * The same in every run and for every thread, so that all threads have the same frequent keys.
   */
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  /** How it is written on the command line. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The names that are allowed. */
  public static String labels() {
    return Arrays.stream(values()).map(Distribution::label).collect(Collectors.joining(", "));
  }

  /** Chooses {@code count} of the keys from 0 to {@code keys - 1}. */
  long[] choose(long keys, int count, SplittableRandom random) {
    return switch (this) {
      case UNIFORM -> random.longs(count, 0, keys).toArray();
      case ZIPF -> zipf(keys, count, random);
      case HOTSET -> hotset(keys, count, random);
    };
  }

  private static long[] zipf(long keys, int count, SplittableRandom random) {
    ZipfRanks ranks = new ZipfRanks(keys, ZIPF_THETA);
    Permutation scatter = new Permutation(keys, SCATTER);
    long[] chosen = new long[count];
    for (int i = 0; i < count; i++) {
      chosen[i] = scatter.apply(ranks.at(random.nextDouble()));
    }
    return chosen;
  }

  private static long[] hotset(long keys, int count, SplittableRandom random) {
    Permutation scatter = new Permutation(keys, SCATTER);
    long hot = Math.max(1, (long) (keys * HOT_KEYS));
    long[] chosen = new long[count];
    for (int i = 0; i < count; i++) {
      long start = (long) ((double) i / count * keys);
      long at =
          random.nextDouble() < HOT_CHOICES || hot == keys
              ? random.nextLong(hot)
              : hot + random.nextLong(keys - hot);
      chosen[i] = scatter.apply((start + at) % keys);
    }
    return chosen;
  }
}
