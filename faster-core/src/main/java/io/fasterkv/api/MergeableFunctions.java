package io.fasterkv.api;

/**
 * Functions whose updates can be made apart from the value they update, and be merged with it later
 * (SIGMOD'18, section 6.3: CRDTs). In a store whose {@code merge} is set, sessions take only
 * functions of this kind, with the same merge; in any other store they work as all functions do.
 */
public interface MergeableFunctions<I, O, C> extends StoreFunctions<I, O, C>, SpanMerge {

  /**
   * Whether an RMW by {@code input} may leave the old value where it is and append what {@code
   * initialUpdater} makes of the input. An RMW for which this is false sees the whole value, as in
   * a store that merges nothing, and need not keep to the rules of {@link Merge}. Asked only where
   * it matters: in a store that merges, of a value that is not updated in place. Always the same
   * for the same key and input.
   */
  default boolean mergesBlindly(ByteSpan key, I input) {
    return true;
  }
}
