package io.fasterkv.index;

/** Moves the contents of one or two buckets of the old table to the new one. */
interface BucketMover {
  /** Everything has been moved. */
  int DONE = -1;

  /**
   * Moves bucket {@code bucket} of the smaller table, starting at {@code step}, which is 0 at
   * first. Returns {@link #DONE}, or the step to continue with when the log has room again. Before
   * it returns {@link #DONE}, it subtracts the bucket's entries from the old table's count. The
   * caller must have claimed the bucket and be protected.
   */
  int move(long bucket, int step);
}
