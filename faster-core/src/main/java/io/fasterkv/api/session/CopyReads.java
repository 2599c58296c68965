package io.fasterkv.api.session;

/**
 * Selects the records that a session's reads copy to the tail of the log, so that the next read
 * finds them in memory (SIGMOD'18, appendix D). A copy takes log space. A record that is read often
 * is copied once and then found in memory until the copy is evicted. A copy never hides a newer
 * value.
 */
public enum CopyReads {
  /** Copies no records. */
  NEVER,
  /** Copies records that were read from disk. */
  FROM_DISK,
  /**
   * Copies records that were read from disk, and those in the read-only region, before they are
   * evicted.
   */
  FROM_DISK_AND_READ_ONLY
}
