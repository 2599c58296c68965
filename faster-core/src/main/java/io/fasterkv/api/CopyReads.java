package io.fasterkv.api;

/**
 * Which records a session's reads copy to the tail of the log, where the next read finds them in
 * memory (SIGMOD'18, appendix D). A copy takes log space; a read-hot key is copied once and then
 * found in memory until its copy is evicted. A copy never covers a newer value.
 */
public enum CopyReads {
  /** None. */
  NEVER,
  /** Those that were read from disk. */
  FROM_DISK,
  /** Those too that lie in the read-only part of memory, before they are evicted. */
  FROM_DISK_AND_READ_ONLY
}
