package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;

/** Test functions: reads copy the value out; an RMW appends its input to the value. */
public class AppendingFunctions implements StoreFunctions<byte[], BytesFunctions.Result, Object> {
  @Override
  public void singleReader(
      ByteSpan key, byte[] input, ByteSpan value, BytesFunctions.Result output, RecordView record) {
    if (output != null) {
      output.value = value.toArray();
    }
  }

  @Override
  public int initialBytes(ByteSpan key, byte[] input) {
    return input.length;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, byte[] input, ByteSpan value, BytesFunctions.Result output, RecordView record) {
    value.copyFrom(0, input, 0, input.length);
    value.setLength(input.length);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, byte[] input, ByteSpan value, BytesFunctions.Result output, RecordView record) {
    int length = value.length();
    if (length + input.length > value.capacity()) {
      return false;
    }
    value.copyFrom(length, input, 0, input.length);
    value.setLength(length + input.length);
    return true;
  }

  @Override
  public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
    return oldValue.length() + input.length;
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      byte[] input,
      ByteSpan oldValue,
      ByteSpan newValue,
      BytesFunctions.Result output,
      RecordView record) {
    newValue.setTo(oldValue);
    newValue.copyFrom(oldValue.length(), input, 0, input.length);
    newValue.setLength(oldValue.length() + input.length);
  }

  @Override
  public void completionCallback(
      Status status, byte[] input, BytesFunctions.Result output, Object context) {
    if (output != null) {
      output.completed = status;
    }
  }
}
