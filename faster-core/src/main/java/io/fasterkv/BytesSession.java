package io.fasterkv;

import io.fasterkv.ArrayFunctions.Call;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import java.util.Objects;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A session on {@code byte[]} keys and values that needs no functions. For one thread at a time.
 * Its operations wait for disk reads, and copy values to and from arrays; a {@link Session} avoids
 * both. They throw the errors that {@link Session} lists.
 */
public final class BytesSession implements AutoCloseable {
  private static final byte[] NOTHING = {};

  private final Session<Call, Call, Void> session;
  private final ByteSpan keySpan = new ByteSpan();
  private final ByteSpan valueSpan = new ByteSpan();

  BytesSession(Session<Call, Call, Void> session) {
    this.session = session;
  }

  /**
   * Returns a key's value.
   *
   * @param key the key
   * @return the value; null if there is none
   */
  public byte @Nullable [] get(byte[] key) {
    Call call = new Call(NOTHING, null);
    Status status = session.read(keySpan.wrap(key), call, call, null);
    return status == Status.FOUND ? call.result : null;
  }

  /**
   * Sets a key's value.
   *
   * @param key the key
   * @param value the value
   */
  public void put(byte[] key, byte[] value) {
    session.upsert(keySpan.wrap(key), valueSpan.wrap(value), null);
  }

  /**
   * Deletes a key.
   *
   * @param key the key
   */
  public void delete(byte[] key) {
    session.delete(keySpan.wrap(key), null);
  }

  /**
   * Sets a key's value if it has none, otherwise replaces it by what a function makes of the old
   * value and the given one. This is atomic: no update of another session is lost.
   *
   * @param key the key
   * @param value the value
   * @param function makes the new value; it may be called more than once, under the store's epoch
   *     protection, and must neither return null nor use the store
   * @return the new value
   */
  public byte[] merge(byte[] key, byte[] value, BinaryOperator<byte[]> function) {
    Call call = new Call(value, function);
    session.rmw(keySpan.wrap(key), call, call, null);
    return Objects.requireNonNull(call.result);
  }

  /**
   * Returns the serial number of the last operation; see {@link Session#serial()}.
   *
   * @return the serial number; 0 if there was no operation
   */
  public long serial() {
    return session.serial();
  }

  /** {@return the session's name; null if it has none} */
  public @Nullable String name() {
    return session.name();
  }

  /** Closes the session; see {@link Session#close()}. */
  @Override
  public void close() {
    session.close();
  }
}
