package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.IndexTable;

/** The exceptions of a replay that cannot build an index. */
final class ReplayRefusals {
  private ReplayRefusals() {}

  /**
   * The exception if the index is full.
   *
   * @param place of the record that has no room
   */
  static OutOfBudget noRoom(IndexTable table, String place) {
    return new OutOfBudget(
        "the index has no room for another entry while it is made from the log: "
            + place
            + ", entries="
            + table.entries()
            + ", mainBuckets="
            + table.mainBuckets()
            + ", overflowBuckets="
            + table.geometry().overflowBuckets()
            + "; raise memoryBytes, or recover from a checkpoint with the index");
  }

  /** The exception for a fork at {@code place}. */
  static BadConfig forked(String place) {
    return new BadConfig(
        "the log was written while the index was halved, and without an image of the index its"
            + " chains cannot be told apart: "
            + place
            + ", allowed=checkpoints with an index, or whose log has no such place; recover without"
            + " withoutIndex()");
  }
}
