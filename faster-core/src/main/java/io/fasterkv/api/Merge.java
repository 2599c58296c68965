package io.fasterkv.api;

/**
 * How two parts of one value become one: {@link SpanMerge} or {@link LongMerge}, by the store's
 * kind of records (SIGMOD'18, sections 2.1 and 6.3: mergeable updates).
 *
 * <p>A store that is given a merge lets an RMW leave an old value where it is, on disk or in the
 * fuzzy region: the RMW writes a <em>delta</em>, what {@code initialUpdater} makes of its input,
 * and a read merges the deltas of a key with the value they belong to. For this to be right,
 *
 * <ul>
 *   <li>updating a value by an input gives the same as merging the value with {@code
 *       initialUpdater} of that input;
 *   <li>merging is associative: {@code merge(merge(a, b), c)} equals {@code merge(a, merge(b, c))}.
 * </ul>
 *
 * It need not be commutative: parts are always merged in the order of their updates, {@code older}
 * before {@code newer}.
 *
 * <p>A merge must be pure. It is called by sessions, by compaction and by many threads at a time.
 */
public sealed interface Merge permits LongMerge, SpanMerge {}
