package io.fasterkv.flink.snapshot;

import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The key groups that a store's log may have records of: those of its subtask, and those of the
 * checkpoint whose log it began with, as long as some of that is there.
 *
 * @param own of the subtask
 * @param taken of the log that it began with; {@code own} if there was none
 * @param takenUntil where that log ended
 */
public record StoredKeys(KeyGroupRange own, KeyGroupRange taken, long takenUntil) {

  /** Of a store that began empty. */
  public static StoredKeys of(KeyGroupRange own) {
    return new StoredKeys(own, own, 0);
  }

  /** All from the first to the last key group of which a log with this begin may have records. */
  KeyGroupRange from(long beginAddress) {
    return beginAddress >= takenUntil
        ? own
        : KeyGroupRange.of(
            Math.min(own.getStartKeyGroup(), taken.getStartKeyGroup()),
            Math.max(own.getEndKeyGroup(), taken.getEndKeyGroup()));
  }

  /** Whether others' keys may be among the records. */
  public boolean hasForeign() {
    return !own.contains(taken.getStartKeyGroup()) || !own.contains(taken.getEndKeyGroup());
  }
}
