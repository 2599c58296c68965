package io.fasterkv.api;

/**
 * Computes what an RMW of a {@code long} value returns. {@link LongFunctions} that do not implement
 * this interface too return the new value. Like an updater, it must be pure.
 */
@FunctionalInterface
public interface LongOutput {

  /**
   * Computes the output of an RMW.
   *
   * @param key the key
   * @param input the operation's input
   * @param oldValue the value before; 0 if there was none
   * @param newValue the value after
   * @return the output
   */
  long output(long key, long input, long oldValue, long newValue);
}
