package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.KeyStream;

/**
 * One thread's access to a store. The loops over keys are in each store's own class, so that every
 * store is compiled with call sites of its own.
 */
public interface BenchSession extends AutoCloseable {

  /** Reads the keys from index {@code from} to {@code to - 1} of a stream. */
  void read(KeyStream stream, int from, int to);

  /** Sets the stream's values. */
  void upsert(KeyStream stream, int from, int to);

  /** Adds 1 to the count of each key. */
  void rmw(KeyStream stream, int from, int to);

  /** Reads or sets each key, as the stream says. */
  void mix(KeyStream stream, int from, int to);

  /** Runs the stream's workload. */
  default void go(KeyStream stream, int from, int to) {
    switch (stream.workload().kind()) {
      case READ -> read(stream, from, to);
      case UPSERT -> upsert(stream, from, to);
      case RMW -> rmw(stream, from, to);
      case MIX -> mix(stream, from, to);
    }
  }

  /** Waits until all operations have ended. */
  default void settle() {}

  /** The sum of the fingerprints of all values that {@code read} and {@code mix} have read. */
  long fingerprints();

  /** A key's value, or {@link io.fasterkv.bench.workload.Values#MISSING}. */
  long get(long key);

  /** Sets a key's value. */
  void put(long key, long value);

  @Override
  default void close() {}
}
