package io.fasterkv.flink.key;

/** Non-negative ints in one to five bytes, seven bits a byte, the low bits first. */
public final class Varint {
  private static final int MORE = 0x80;
  private static final int BITS = 7;

  private Varint() {}

  /** How many bytes {@code value} takes: 1 to 5. */
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

  /** The number at {@code at}; its length is {@link #size} of it. */
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
