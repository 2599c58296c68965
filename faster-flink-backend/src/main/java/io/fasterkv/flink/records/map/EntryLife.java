package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;

/** Says which entries of a state's maps have expired. Safe for use by all threads. */
public interface EntryLife {

  /**
   * The time to use for a whole edit: entries expired at that time stay expired during the edit.
   */
  long now();

  /** Whether the entry under the cursor has not expired. */
  boolean isAlive(ByteSpan block, EntryCursor entry, long now);
}
