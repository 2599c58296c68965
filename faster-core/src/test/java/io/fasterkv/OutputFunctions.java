package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.DeleteFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An RMW appends its input. Every callback records its arguments. */
final class OutputFunctions
    implements StoreFunctions<byte[], OutputFunctions.Output, Consumer<Status>>, DeleteFunctions {

  /** The arguments of an operation's last callback. */
  static final class Output {
    byte @Nullable [] before;
    byte @Nullable [] after;
    long address;
    long version;
    int calls;

    private void set(byte @Nullable [] oldValue, byte @Nullable [] newValue, RecordView record) {
      before = oldValue;
      after = newValue;
      address = record.address();
      version = record.version();
      calls++;
    }
  }

  /** The arguments of the last delete. */
  Output deleted = new Output();

  @Override
  public void singleReader(
      ByteSpan key, byte[] input, ByteSpan value, Output output, RecordView record) {
    output.set(value.toArray(), null, record);
  }

  @Override
  public void singleWriter(
      ByteSpan key,
      byte[] input,
      ByteSpan source,
      ByteSpan value,
      Output output,
      RecordView record) {
    value.setTo(source);
    output.set(input, source.toArray(), record);
  }

  @Override
  public boolean concurrentWriter(
      ByteSpan key,
      byte[] input,
      ByteSpan source,
      ByteSpan value,
      Output output,
      RecordView record) {
    if (source.length() > value.capacity()) {
      return false;
    }
    byte[] before = value.toArray();
    value.setTo(source);
    output.set(before, source.toArray(), record);
    return true;
  }

  @Override
  public int initialBytes(ByteSpan key, byte[] input) {
    return input.length;
  }

  @Override
  public void initialUpdater(
      ByteSpan key, byte[] input, ByteSpan value, Output output, RecordView record) {
    value.setTo(ByteSpan.of(input));
    output.set(null, input, record);
  }

  @Override
  public boolean inPlaceUpdater(
      ByteSpan key, byte[] input, ByteSpan value, Output output, RecordView record) {
    int length = value.length();
    if (length + input.length > value.capacity()) {
      return false;
    }
    byte[] before = value.toArray();
    value.copyFrom(length, input, 0, input.length);
    value.setLength(length + input.length);
    output.set(before, value.toArray(), record);
    return true;
  }

  /** An empty input replaces nothing. */
  @Override
  public boolean needsCopyUpdate(ByteSpan key, byte[] input, ByteSpan oldValue, Output output) {
    if (input.length == 0) {
      output.before = oldValue.toArray();
      output.after = output.before;
    }
    return input.length > 0;
  }

  /** Room to grow, so that some updates are in place. */
  @Override
  public int copyBytes(ByteSpan key, byte[] input, ByteSpan oldValue) {
    return oldValue.length() + 3 * input.length;
  }

  @Override
  public void copyUpdater(
      ByteSpan key,
      byte[] input,
      ByteSpan oldValue,
      ByteSpan newValue,
      Output output,
      RecordView record) {
    newValue.setTo(oldValue);
    newValue.copyFrom(oldValue.length(), input, 0, input.length);
    newValue.setLength(oldValue.length() + input.length);
    output.set(oldValue.toArray(), newValue.toArray(), record);
  }

  @Override
  public void concurrentDeleter(ByteSpan key, ByteSpan value, RecordView record) {
    deleted.set(value.toArray(), null, record);
  }

  @Override
  public void singleDeleter(ByteSpan key, RecordView record) {
    deleted.set(null, null, record);
  }

  @Override
  public void completionCallback(
      Status status, byte[] input, Output output, Consumer<Status> context) {
    context.accept(status);
  }
}
