package io.fasterkv.record;

/**
 * Logical addresses: 48 bits, in bytes, over memory and disk. An address always names the same
 * record.
 */
public final class Address {
  /** No record: the end of a chain. */
  public static final long NONE = 0;

  /** Address of the first record; nothing is below it. */
  public static final long FIRST = 64;

  public static final int BITS = 48;
  public static final long MASK = (1L << BITS) - 1;

  private Address() {}
}
