package io.fasterkv.bench.job;

import java.io.Serializable;

/**
 * Hashes the rows of a result.
 *
 * @param <T> the rows
 */
public interface ResultHash<T> extends Serializable {
  /** A hash of all values of a row, the same in every process. */
  long hash(T row);

  /** Says whether a row is added to the result, and not removed from it. */
  default boolean isAdded(T row) {
    return true;
  }

  /** Adds a value to the hash of the values before it. */
  static long mix(long hash, long value) {
    long mixed = (hash + value) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 32)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 29);
  }
}
