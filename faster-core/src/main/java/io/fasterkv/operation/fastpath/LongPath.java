package io.fasterkv.operation.fastpath;

import io.fasterkv.api.Status;
import org.jspecify.annotations.Nullable;

/**
 * The fast path of operations on {@code long} keys whose record is in memory and is read, changed
 * in place, or replaced blindly. It leaves all other operations alone and changes nothing; the
 * caller then takes the slow path through {@code SessionCore}, which handles everything. For one
 * session; one thread at a time.
 *
 * <p>The methods for groups, of at most {@link #GROUP} keys, protect the epoch once. They prefetch
 * all buckets of the group, then all records, and then process the keys in order. They return how
 * many of the first keys were processed; the next one needs the slow path.
 */
public abstract class LongPath {
  /**
   * More keys than a core can have cache misses in progress; few enough not to evict other data.
   */
  public static final int GROUP = 32;

  /** The result of the last read or RMW. */
  public long value;

  /** Whether the path can be used; false after the index was resized. */
  public abstract boolean isCurrent();

  /** Starts to load what an operation on the key needs first. */
  public abstract void prefetch(long key);

  public abstract boolean read(long key);

  /** The status of the upsert; null if it needs the slow path. */
  public abstract @Nullable Status upsert(long key, long newValue);

  public abstract boolean rmw(long key, long input);

  public abstract int read(long[] keys, long[] values, Status[] statuses, int from, int count);

  public abstract int upsert(long[] keys, long[] values, Status[] statuses, int from, int count);

  public abstract int rmw(
      long[] keys,
      long[] inputs,
      long @Nullable [] outputs,
      Status[] statuses,
      int from,
      int count);

  /** The path while there is none, because the index is being resized or the session is closed. */
  static final class None extends LongPath {
    @Override
    public boolean isCurrent() {
      return false;
    }

    @Override
    public void prefetch(long key) {}

    @Override
    public boolean read(long key) {
      return false;
    }

    @Override
    public @Nullable Status upsert(long key, long newValue) {
      return null;
    }

    @Override
    public boolean rmw(long key, long input) {
      return false;
    }

    @Override
    public int read(long[] keys, long[] values, Status[] statuses, int from, int count) {
      return 0;
    }

    @Override
    public int upsert(long[] keys, long[] values, Status[] statuses, int from, int count) {
      return 0;
    }

    @Override
    public int rmw(
        long[] keys,
        long[] inputs,
        long @Nullable [] outputs,
        Status[] statuses,
        int from,
        int count) {
      return 0;
    }
  }
}
