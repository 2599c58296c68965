package io.fasterkv.api;

/**
 * {@link MergeableFunctions} for {@code long} values.
 *
 * @param <C> the caller's own object, returned when a pending operation ends
 */
public interface MergeableLongFunctions<C> extends LongFunctions<C>, LongMerge {}
