package io.fasterkv.state;

/**
 * The phases of a version shift, in order (CPR, SIGMOD'19, section 6.2). Between two checkpoints
 * the store is at {@link #REST}.
 */
public enum Phase {
  /** Attempts belong to the store's version; no version shift is in progress. */
  REST,
  /** Attempts still belong to the old version, and know that a new one is about to start. */
  PREPARE,
  /** New attempts belong to the new version; running attempts of the old version continue. */
  IN_PROGRESS,
  /** No attempt of the old version is running; its pending operations are being completed. */
  WAIT_PENDING,
  /** Nothing of the old version changes any more; it is being made durable. */
  WAIT_FLUSH;

  private static final Phase[] ALL = values();

  static Phase of(int ordinal) {
    return ALL[ordinal];
  }

  /**
   * Tells whether operations of two versions can run concurrently, so that an attempt must check
   * which version it belongs to.
   *
   * @return true from {@link #PREPARE} to {@link #WAIT_PENDING}
   */
  public boolean isShifting() {
    return this == PREPARE || this == IN_PROGRESS || this == WAIT_PENDING;
  }
}
