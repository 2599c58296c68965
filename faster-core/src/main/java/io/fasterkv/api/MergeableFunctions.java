package io.fasterkv.api;

/**
 * Functions whose updates can be made apart from the value they update, and be merged with it later
 * (SIGMOD'18, section 6.3: CRDTs). In a store whose {@code merge} is set, sessions take only
 * functions of this kind, with the same merge; in any other store they work as all functions do.
 */
public interface MergeableFunctions<I, O, C> extends StoreFunctions<I, O, C>, SpanMerge {}
