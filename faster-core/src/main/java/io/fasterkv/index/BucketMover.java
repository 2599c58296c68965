package io.fasterkv.index;

/** Moves the contents of one or two buckets of the old table to the new one. */
interface BucketMover {
  /** Everything has been moved. */
  int DONE = -1;

  /**
   * Moves bucket {@code bucket} of the smaller table, starting at {@code step}, which is 0 at
   * first. Returns {@link #DONE}, or the step to continue with when the log has room again. The old
   * table does not count the bucket's entries any more when it is done. The caller must have
   * claimed the bucket and be protected.
   */
  int move(long bucket, int step);
}
