package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.Status;

/**
 * Test functions: reads copy the value out; an RMW appends its input to the value. Merging appends
 * too, so that a part that is lost, doubled or out of order shows.
 */
public class BytesFunctions implements MergeableFunctions<byte[], BytesFunctions.Result, Object> {

  /** What a read found. */
  public static final class Result {
    byte[] value = new byte[0];
    Status completed = Status.PENDING;
  }

  @Override
  public void singleReader(ByteSpan key, byte[] input, ByteSpan value, Result output) {
    if (output != null) {
      output.value = value.toArray();
    }
  }

  @Override
  public int initialBytes(ByteSpan key, byte[] input) {
    return input.length;
  }

  @Override
  public void initialUpdater(ByteSpan key, byte[] input, ByteSpan value) {
    value.copyFrom(0, input, 0, input.length);
    value.setLength(input.length);
  }

  @Override
  public boolean inPlaceUpdater(ByteSpan key, byte[] input, ByteSpan value) {
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
  public void copyUpdater(ByteSpan key, byte[] input, ByteSpan oldValue, ByteSpan newValue) {
    newValue.setTo(oldValue);
    newValue.copyFrom(oldValue.length(), input, 0, input.length);
    newValue.setLength(oldValue.length() + input.length);
  }

  @Override
  public int mergedBytes(ByteSpan key, ByteSpan older, ByteSpan newer) {
    return older.length() + newer.length();
  }

  @Override
  public void merge(ByteSpan key, ByteSpan older, ByteSpan newer, ByteSpan result) {
    result.setTo(older);
    result.copyFrom(older.length(), newer);
    result.setLength(older.length() + newer.length());
  }

  @Override
  public void completionCallback(Status status, byte[] input, Result output, Object context) {
    if (output != null) {
      output.completed = status;
    }
  }
}
