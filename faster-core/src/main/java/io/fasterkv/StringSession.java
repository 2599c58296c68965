package io.fasterkv;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A {@link BytesSession} whose keys and values are strings, stored in UTF-8. For one thread at a
 * time.
 */
public final class StringSession implements AutoCloseable {
  private final BytesSession session;

  StringSession(BytesSession session) {
    this.session = session;
  }

  /**
   * Returns a key's value.
   *
   * @param key the key
   * @return the value; null if there is none
   */
  public @Nullable String get(String key) {
    byte[] value = session.get(key.getBytes(UTF_8));
    return value == null ? null : new String(value, UTF_8);
  }

  /**
   * Sets a key's value.
   *
   * @param key the key
   * @param value the value
   */
  public void put(String key, String value) {
    session.put(key.getBytes(UTF_8), value.getBytes(UTF_8));
  }

  /**
   * Deletes a key.
   *
   * @param key the key
   */
  public void delete(String key) {
    session.delete(key.getBytes(UTF_8));
  }

  /**
   * Sets a key's value if it has none, otherwise replaces it by what a function makes of the old
   * value and the given one; see {@link BytesSession#merge}.
   *
   * @param key the key
   * @param value the value
   * @param function makes the new value; it may be called more than once, and must neither return
   *     null nor use the store
   * @return the new value
   */
  public String merge(String key, String value, BinaryOperator<String> function) {
    byte[] merged =
        session.merge(
            key.getBytes(UTF_8),
            value.getBytes(UTF_8),
            (old, given) ->
                function.apply(new String(old, UTF_8), new String(given, UTF_8)).getBytes(UTF_8));
    return new String(merged, UTF_8);
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
