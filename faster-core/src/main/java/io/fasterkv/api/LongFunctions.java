package io.fasterkv.api;

/**
 * What an application does with {@code long} values under {@code long} keys. Updaters must be pure:
 * an attempt that loses a race is repeated. They run under epoch protection, so they must not call
 * the session that runs them, nor wait for another. A value is 8 bytes that are read and written
 * atomically.
 *
 * @param <C> the caller's own object, handed back when a pending operation ends
 */
public interface LongFunctions<C> {

  /** A key's first value in an RMW. */
  long initialUpdater(long key, long input);

  /** The successor of {@code oldValue} in an RMW, in place or in a copy. */
  long updater(long key, long input, long oldValue);

  /**
   * Called once for each operation that returned {@link Status#PENDING}, when it has ended without
   * a failure.
   *
   * @param value what a read found; 0 for other operations
   */
  default void completionCallback(Status status, long key, long value, C context) {}

  /** Sums: an RMW adds its input. They can be merged. */
  static <C> MergeableLongFunctions<C> sum() {
    return new MergeableLongFunctions<>() {
      @Override
      public long initialUpdater(long key, long input) {
        return input;
      }

      @Override
      public long updater(long key, long input, long oldValue) {
        return oldValue + input;
      }

      @Override
      public long merge(long key, long older, long newer) {
        return older + newer;
      }
    };
  }
}
