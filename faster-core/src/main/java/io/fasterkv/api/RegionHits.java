package io.fasterkv.api;

/**
 * In which region of the log operations have found the newest record of their key, since the store
 * was opened (SIGMOD'18, section 6.1). Told from counters of the sessions; while these run, the
 * numbers may lag behind by a little. An operation counts once, when it has ended, and only if it
 * has found its key. A blind upsert looks in the mutable region alone, and a delete in memory.
 *
 * @param mutable where records are updated in place
 * @param readOnly in memory, where updates copy: also what a checkpoint under way has made so
 * @param disk read from disk, as a whole or in part
 */
public record RegionHits(long mutable, long readOnly, long disk) {}
