package io.fasterkv.flink.snapshot;

import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The key groups that a store's log may have records of: those of its subtask, and those of the
 * checkpoint whose log the store opened, until compaction has moved past that log.
 *
 * @param own key groups of the subtask
 * @param taken key groups of the log that the store opened; {@code own} if there was none
 * @param takenUntil end address of that log
 */
public record StoredKeys(KeyGroupRange own, KeyGroupRange taken, long takenUntil) {

  /** The key groups of a store that began empty. */
  public static StoredKeys of(KeyGroupRange own) {
    return new StoredKeys(own, own, 0);
  }

  /** The smallest range with all key groups whose records a log with this begin may have. */
  KeyGroupRange from(long beginAddress) {
    return beginAddress >= takenUntil
        ? own
        : KeyGroupRange.of(
            Math.min(own.getStartKeyGroup(), taken.getStartKeyGroup()),
            Math.max(own.getEndKeyGroup(), taken.getEndKeyGroup()));
  }

  /** Whether the log may have records of other subtasks' keys. */
  public boolean hasForeign() {
    return !own.contains(taken.getStartKeyGroup()) || !own.contains(taken.getEndKeyGroup());
  }
}
