package io.fasterkv.api;

/**
 * Functions whose updates can be computed without the value that they update, and merged with it
 * later (SIGMOD'18, section 6.3: CRDTs). In a store with a configured {@code merge}, sessions
 * accept only functions of this kind, with the same merge. In any other store they work like other
 * functions.
 *
 * @param <I> the input of an operation
 * @param <O> the output of a read
 * @param <C> the caller's own object, returned when a pending operation ends
 */
public interface MergeableFunctions<I, O, C> extends StoreFunctions<I, O, C>, SpanMerge {

  /**
   * Tells whether an RMW may leave the old value untouched and append the result of {@code
   * initialUpdater} as a delta. An RMW for which this is false sees the whole value, as in a store
   * without a merge, and need not follow the rules of {@link Merge}. The store asks only where it
   * matters: if it merges, and the value is not updated in place.
   *
   * @param key the key
   * @param input the operation's input
   * @return true to allow a delta; always the same for the same key and input
   */
  default boolean mergesBlindly(ByteSpan key, I input) {
    return true;
  }
}
