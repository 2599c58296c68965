package io.fasterkv.api;

/** Merges {@code long} values; see {@link Merge} for the rules. */
@FunctionalInterface
public non-sealed interface LongMerge extends Merge {

  /**
   * Merges two parts of a value.
   *
   * @param key the key
   * @param older the earlier part
   * @param newer the part that was written later
   * @return the merged value
   */
  long merge(long key, long older, long newer);
}
