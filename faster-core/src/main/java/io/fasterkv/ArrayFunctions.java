package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.StoreFunctions;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/** Copies values to arrays, and merges arrays into values. */
final class ArrayFunctions
    implements StoreFunctions<ArrayFunctions.Call, ArrayFunctions.Call, Void> {

  /** Input and output of one operation. */
  static final class Call {
    private final byte[] value;
    private final @Nullable BinaryOperator<byte[]> function;
    private byte @Nullable [] mergedFrom;
    private byte[] merged;

    /** What the operation returns. */
    byte @Nullable [] result;

    Call(byte[] value, @Nullable BinaryOperator<byte[]> function) {
      this.value = value;
      this.function = function;
      merged = value;
    }

    /** Calls the function once for each old value, however often the store asks. */
    private byte[] mergedWith(ByteSpan oldValue) {
      byte[] old = oldValue.toArray();
      if (!Arrays.equals(old, mergedFrom)) {
        mergedFrom = old.clone();
        byte[] made = Objects.requireNonNull(function).apply(old, value);
        merged = Objects.requireNonNull(made, "a merge function returned null");
      }
      return merged;
    }
  }

  @Override
  public void singleReader(
      ByteSpan key, Call input, ByteSpan value, Call output, RecordView record) {
    output.result = value.toArray();
  }

  @Override
  public int initialBytes(ByteSpan key, Call input) {
    return input.value.length;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, Call input, ByteSpan value, Call output, RecordView record) {
    set(value, input.value, output);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, Call input, ByteSpan value, Call output, RecordView record) {
    byte[] merged = input.mergedWith(value);
    if (merged.length > value.capacity()) {
      return false;
    }
    set(value, merged, output);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, Call input, ByteSpan oldValue) {
    return input.mergedWith(oldValue).length;
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      Call input,
      ByteSpan oldValue,
      ByteSpan newValue,
      Call output,
      RecordView record) {
    set(newValue, input.mergedWith(oldValue), output);
  }

  private static void set(ByteSpan value, byte[] bytes, Call output) {
    value.copyFrom(0, bytes, 0, bytes.length);
    value.setLength(bytes.length);
    output.result = bytes;
  }
}
