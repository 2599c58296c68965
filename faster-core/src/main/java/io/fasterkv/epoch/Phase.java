package io.fasterkv.epoch;

/**
 * The phases of a version shift (CPR, SIGMOD'19, section 6.2), in their order. Between two
 * checkpoints the store is at REST.
 */
public enum Phase {
  /** Attempts are of the store's version, and nothing is about to change. */
  REST,
  /** Attempts are of the old version still, and know that a new one is about to begin. */
  PREPARE,
  /** Attempts are of the new version; those of the old version that are under way go on. */
  IN_PROGRESS,
  /** No attempt of the old version is under way; what is pending of it is being ended. */
  WAIT_PENDING,
  /** Nothing of the old version changes any more; it is being made durable. */
  WAIT_FLUSH;

  private static final Phase[] ALL = values();

  static Phase of(int ordinal) {
    return ALL[ordinal];
  }

  /**
   * Whether two versions are at work at a time, so that attempts have to mind which they are of.
   */
  public boolean isShifting() {
    return this == PREPARE || this == IN_PROGRESS || this == WAIT_PENDING;
  }
}
