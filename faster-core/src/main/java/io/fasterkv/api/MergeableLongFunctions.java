package io.fasterkv.api;

/** {@link MergeableFunctions} of {@code long} values. */
public interface MergeableLongFunctions<C> extends LongFunctions<C>, LongMerge {}
