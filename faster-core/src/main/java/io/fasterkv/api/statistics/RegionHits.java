package io.fasterkv.api.statistics;

/**
 * Counts in which region of the log operations have found the newest record of their key since the
 * store was opened (SIGMOD'18, section 6.1). The numbers are taken from the sessions' counters;
 * while sessions run, they may be slightly out of date. An operation counts once, when it has
 * ended, and only if it found its key. A blind upsert searches only the mutable region, and a
 * delete only memory.
 *
 * @param mutable found in the mutable region, where records are updated in place
 * @param readOnly found in memory where updates copy, including the part that a checkpoint in
 *     progress has made read-only
 * @param disk read from disk, entirely or in part
 */
public record RegionHits(long mutable, long readOnly, long disk) {}
