package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;

/**
 * Updates of two kinds: some append their input and are merged, like those of {@link
 * BytesFunctions}; the others prepend it to the value, for which they need the value.
 */
final class MixedFunctions extends BytesFunctions {

  /** Whether an input goes before the value: it does not begin with a small letter. */
  static boolean isPrefix(byte[] input) {
    return input.length > 0 && (input[0] & 0x20) == 0;
  }

  /** The result for a value. */
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
  public boolean inPlaceUpdater(
      ByteSpan key, byte[] input, ByteSpan value, Result output, RecordView record) {
    if (!isPrefix(input)) {
      return super.inPlaceUpdater(key, input, value, output, record);
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
  public void copyUpdater(
      ByteSpan key,
      byte[] input,
      ByteSpan oldValue,
      ByteSpan newValue,
      Result output,
      RecordView record) {
    if (!isPrefix(input)) {
      super.copyUpdater(key, input, oldValue, newValue, output, record);
      return;
    }
    byte[] whole = updated(oldValue.toArray(), input);
    newValue.copyFrom(0, whole, 0, whole.length);
    newValue.setLength(whole.length);
  }
}
