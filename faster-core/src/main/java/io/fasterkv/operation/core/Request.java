package io.fasterkv.operation.core;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.memory.Words;
import io.fasterkv.record.KeyBytes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * What the caller of an operation wants. A superclass of the operation rather than a part of it, so
 * that the fast path reads it directly.
 */
public abstract class Request<I, O, C> extends OperationBuffers {
  /** The kind of operation. */
  public enum Kind {
    READ,
    UPSERT,
    RMW,
    DELETE
  }

  public Kind kind = Kind.READ;
  public final KeyBytes key = new KeyBytes();
  public final ByteSpan keySpan = new ByteSpan();
  public long hash;
  public @Nullable I input;
  public @Nullable O output;
  public @Nullable C context;

  /** The value of an upsert. */
  public @Nullable ByteSpan source;

  /** Input of an operation on {@code long} values. */
  public long longInput;

  /** Its serial number in its session, if it is pending. */
  public long serial;

  /** Receives the end of a pending operation instead of the completion callback. */
  public @Nullable Promise promise;

  Request(Engine engine) {
    super(engine);
  }

  /** Copies the key to native memory, so that it outlives the call. */
  public final void setKey(ByteSpan from) {
    copyKey(from.memory(), from.offset(), from.length());
  }

  /** Sets a {@code long} as the key. */
  public final void setKey(long from) {
    MemorySegment memory = keyBuffer(Long.BYTES);
    Words.storePlain(memory, 0, from);
    key.set(memory, Long.BYTES);
  }

  /** A copy of the key's bytes on the heap. */
  public final byte[] keyCopy() {
    return key.memory().asSlice(0, key.length()).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Copies what another operation wants, which must not change meanwhile. */
  final void copy(Request<I, O, C> other) {
    copyKey(other.key.memory(), 0, other.key.length());
    hash = other.hash;
    input = other.input;
    output = other.output;
    context = other.context;
    longInput = other.longInput;
  }

  /** Drops the references to the caller's objects. */
  final void forgetRequest() {
    input = null;
    output = null;
    context = null;
    source = null;
    promise = null;
    keySpan.release();
  }

  private void copyKey(MemorySegment from, long offset, int length) {
    // Room for the padding of a key to a multiple of 8.
    MemorySegment memory = keyBuffer(length + Long.BYTES);
    key.copy(from, offset, length, memory);
    keySpan.wrap(memory, 0, length, length);
  }
}
