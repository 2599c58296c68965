package io.fasterkv.index;

/** Moves what one or two buckets of the old table hold to the new one. */
interface BucketMover {
  /** All of it has been moved. */
  int DONE = -1;

  /**
   * Moves bucket {@code bucket} of the smaller of the two tables, from {@code step} on, which is 0
   * at first. Returns {@link #DONE}, or the step to go on with when the log has room again. The
   * caller has claimed the bucket and is protected.
   */
  int move(long bucket, int step);
}
