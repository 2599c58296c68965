package io.fasterkv.operation;

import io.fasterkv.api.Status;
import org.jspecify.annotations.Nullable;

/**
 * The short way of operations on {@code long} keys whose record is in memory, and is read or
 * changed where it lies, or replaced blindly. What is not that simple it leaves alone, with nothing
 * changed: the caller then takes the general way through {@link SessionCore}, which does
 * everything. One session's; one thread at a time.
 *
 * <p>The methods on groups, of at most {@link #GROUP} keys, protect the epoch once. They bring all
 * buckets of the group into the cache, then all records, and then work in the order of the keys.
 * They return how many of the first they have done: the next one has to go the general way.
 */
abstract class LongPath {
  /** More keys than a core can have cache misses under way; fewer than spoil the cache. */
  static final int GROUP = 32;

  /** What the last read has found. */
  long value;

  /** Whether the path still leads anywhere: it does not when the index has another size. */
  abstract boolean isCurrent();

  abstract boolean read(long key);

  /** How the upsert has ended; null if it has to go the general way. */
  abstract @Nullable Status upsert(long key, long newValue);

  abstract boolean rmw(long key, long input);

  abstract int read(long[] keys, long[] values, Status[] statuses, int from, int count);

  abstract int upsert(long[] keys, long[] values, Status[] statuses, int from, int count);

  abstract int rmw(long[] keys, long[] inputs, Status[] statuses, int from, int count);

  /** The path while there is none: the index is being resized, or the session is closed. */
  static final class None extends LongPath {
    @Override
    boolean isCurrent() {
      return false;
    }

    @Override
    boolean read(long key) {
      return false;
    }

    @Override
    @Nullable Status upsert(long key, long newValue) {
      return null;
    }

    @Override
    boolean rmw(long key, long input) {
      return false;
    }

    @Override
    int read(long[] keys, long[] values, Status[] statuses, int from, int count) {
      return 0;
    }

    @Override
    int upsert(long[] keys, long[] values, Status[] statuses, int from, int count) {
      return 0;
    }

    @Override
    int rmw(long[] keys, long[] inputs, Status[] statuses, int from, int count) {
      return 0;
    }
  }
}
