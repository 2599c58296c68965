package io.fasterkv.api;

/** How a checkpoint makes the log durable (FASTER's CPR, sections 6 and appendix D). */
public enum CheckpointKind {
  /**
   * All of the log becomes read-only and is flushed in place. The smallest in bytes; afterwards
   * each record is copied once when it is changed.
   */
  FOLD_OVER,

  /**
   * What is in memory is copied to a file of its own. Nothing becomes read-only: records go on
   * being updated in place when it is over.
   */
  SNAPSHOT,

  /**
   * As {@link #SNAPSHOT}, with only those blocks that the snapshots before it do not have. Becomes
   * a whole snapshot when there is none that it could build on.
   */
  INCREMENTAL_SNAPSHOT,

  /**
   * The index alone, for later checkpoints without one to build on. Cannot be recovered from by
   * itself: the log up to it is not durable.
   */
  INDEX_ONLY
}
