package io.fasterkv.api;

/**
 * Merges two parts of one value (SIGMOD'18, sections 2.1 and 6.3: mergeable updates). Depending on
 * the kind of records, a store uses a {@link SpanMerge} or a {@link LongMerge}.
 *
 * <p>With a merge, an RMW can leave the old value untouched where it is, on disk or in the fuzzy
 * region. The RMW appends a <em>delta</em>, the result of {@code initialUpdater} for its input, and
 * a read merges the key's deltas with the value below them. This is correct if
 *
 * <ul>
 *   <li>updating a value by an input gives the same result as merging the value with {@code
 *       initialUpdater} of that input, and
 *   <li>merging is associative: {@code merge(merge(a, b), c)} equals {@code merge(a, merge(b, c))}.
 * </ul>
 *
 * <p>It need not be commutative: parts are always merged in the order of their updates, {@code
 * older} before {@code newer}.
 *
 * <p>A merge must be pure and safe for all threads. Sessions and compaction call it concurrently.
 */
public sealed interface Merge permits LongMerge, SpanMerge {}
