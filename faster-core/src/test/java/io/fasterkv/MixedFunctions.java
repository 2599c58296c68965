package io.fasterkv;

import io.fasterkv.api.ByteSpan;

/**
 * Updates of two kinds: some append their input and are merged, as those of {@link BytesFunctions};
 * the others put it before the value, and need to see that.
 */
final class MixedFunctions extends BytesFunctions {

  /** Whether an input goes before the value: it begins with none of the small letters. */
  static boolean isPrefix(byte[] input) {
    return input.length > 0 && (input[0] & 0x20) == 0;
  }

  /** What becomes of a value. */
  static byte[] updated(byte[] value, byte[] input) {
    byte[] first = isPrefix(input) ? input : value;
    byte[] last = isPrefix(input) ? value : input;
    byte[] whole = new byte[value.length + input.length];
    System.arraycopy(first, 0, whole, 0, first.length);
    System.arraycopy(last, 0, whole, first.length, last.length);
    return whole;
  }

  @Override
  public boolean mergesBlindly(ByteSpan key, byte[] input) {
    return !isPrefix(input);
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, byte[] input, ByteSpan value) {
    if (!isPrefix(input)) {
      return super.inPlaceUpdater(key, input, value);
    }
    byte[] whole = updated(value.toArray(), input);
    if (whole.length > value.capacity()) {
      return false;
    }
    value.copyFrom(0, whole, 0, whole.length);
    value.setLength(whole.length);
    return true;
  }

  @Override
  public void copyUpdater(ByteSpan key, byte[] input, ByteSpan oldValue, ByteSpan newValue) {
    if (!isPrefix(input)) {
      super.copyUpdater(key, input, oldValue, newValue);
      return;
    }
    byte[] whole = updated(oldValue.toArray(), input);
    newValue.copyFrom(0, whole, 0, whole.length);
    newValue.setLength(whole.length);
  }
}
