package io.fasterkv.api;

/**
 * Defines what an application does with {@code long} values under {@code long} keys. Updaters must
 * be pure, because an attempt that loses a race is repeated. They run under epoch protection: they
 * must not call the session that runs them, nor wait for another one. A value is 8 bytes that are
 * read and written atomically.
 *
 * @param <C> the caller's own object, returned when a pending operation ends
 */
public interface LongFunctions<C> {

  /**
   * Computes a key's first value in an RMW.
   *
   * @param key the key
   * @param input the operation's input
   * @return the first value
   */
  long initialUpdater(long key, long input);

  /**
   * Computes the new value in an RMW; the store writes it in place or into a copy.
   *
   * @param key the key
   * @param input the operation's input
   * @param oldValue the current value
   * @return the new value
   */
  long updater(long key, long input, long oldValue);

  /**
   * Handles the end of an operation that had returned {@link Status#PENDING} and has not failed.
   * Called once for each such operation.
   *
   * @param status how the operation ended
   * @param key the key
   * @param value the value that a read found, or the output of an RMW; 0 for other operations
   * @param context the object passed with the operation
   */
  default void completionCallback(Status status, long key, long value, C context) {}

  /**
   * Returns functions that add: an RMW adds its input to the value. These updates can be merged.
   *
   * @param <C> the caller's own object
   * @return the functions
   */
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
