package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.Mix;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Single-threaded maps, each protected by a lock, the map's own monitor. */
final class Stripes {
  private static final int BITS = 8;
  private static final int COUNT = 1 << BITS;

  /** These maps are slow when more than half full, and a stripe may get more than its share. */
  private static final double SPARE = 1.1;

  static final float LOAD_FACTOR = 0.65f;

  private Stripes() {}

  /** Creates a map for each stripe, sized for its share of the keys. */
  static <M> List<M> make(long keys, IntFunction<M> map) {
    int capacity = (int) Math.max(8, keys * SPARE / COUNT / LOAD_FACTOR);
    return IntStream.range(0, COUNT).mapToObj(stripe -> map.apply(capacity)).toList();
  }

  /** The number of a key's stripe. */
  static int of(long key) {
    return (int) (Mix.mix(key) >>> Long.SIZE - BITS);
  }
}
