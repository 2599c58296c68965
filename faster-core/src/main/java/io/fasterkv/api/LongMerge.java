package io.fasterkv.api;

/** Merges {@code long} values; see {@link Merge} for what it has to keep to. */
@FunctionalInterface
public non-sealed interface LongMerge extends Merge {

  /** The value that {@code older} and what came after it make together. */
  long merge(long key, long older, long newer);
}
