package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Says which entries of a state's maps have expired. Safe for use by all threads. */
public interface EntryLife {

  /** The moment that a block is edited in: what has expired by it does not come back meanwhile. */
  long now();

  /** Whether the entry under the cursor has not expired. */
  boolean isAlive(ByteSpan block, EntryCursor entry, long now);
}
