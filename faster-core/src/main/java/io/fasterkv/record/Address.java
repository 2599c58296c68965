package io.fasterkv.record;

/**
 * Logical addresses: 48 bits, in bytes, counted over memory and disk. An address names the same
 * record for ever.
 */
public final class Address {
  /** No record: the end of a chain. */
  public static final long NONE = 0;

  /** Where the first record lies; below it nothing is. */
  public static final long FIRST = 64;

  public static final int BITS = 48;
  public static final long MASK = (1L << BITS) - 1;

  private Address() {}
}
