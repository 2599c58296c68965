package io.fasterkv.flink.key;

/** Encodes non-negative ints in one to five bytes: seven bits a byte, the low bits first. */
public final class Varint {
  private static final int MORE = 0x80;
  private static final int BITS = 7;

  private Varint() {}

  /** Number of bytes of {@code value}: 1 to 5. */
  public static int size(int value) {
    return value < MORE ? 1 : (Integer.SIZE - Integer.numberOfLeadingZeros(value) + 6) / BITS;
  }

  /** Writes at {@code at} and returns the offset after. */
  public static int write(byte[] bytes, int at, int value) {
    int rest = value;
    int next = at;
    while (rest >= MORE) {
      bytes[next++] = (byte) (rest | MORE);
      rest >>>= BITS;
    }
    bytes[next++] = (byte) rest;
    return next;
  }

  /** Reads the number at {@code at}; {@link #size} of it is its length. */
  public static int read(byte[] bytes, int at) {
    int value = bytes[at];
    if (value >= 0) {
      return value;
    }
    value &= MORE - 1;
    int next = at + 1;
    for (int shift = BITS; ; shift += BITS) {
      int more = bytes[next++];
      value |= (more & (MORE - 1)) << shift;
      if (more >= 0) {
        return value;
      }
    }
  }
}
