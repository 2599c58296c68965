package io.fasterkv.api.checkpoint;

/** How a checkpoint makes the log durable (CPR, SIGMOD'19, section 6 and appendix D). */
public enum CheckpointKind {
  /**
   * Makes the whole log read-only and flushes it in place. This kind writes the fewest bytes. After
   * it, the first change of each record copies the record to the tail.
   */
  FOLD_OVER,

  /**
   * Copies the part of the log that is in memory to a file of its own. Nothing becomes read-only:
   * records are still updated in place afterwards.
   */
  SNAPSHOT,

  /**
   * Like {@link #SNAPSHOT}, but writes only the blocks that earlier snapshots do not contain. It
   * becomes a whole snapshot if there is none to build on.
   */
  INCREMENTAL_SNAPSHOT,

  /**
   * Writes the index alone, so that later checkpoints without an index can build on it. A store
   * cannot be recovered from it alone, because the log up to it is not durable.
   */
  INDEX_ONLY
}
