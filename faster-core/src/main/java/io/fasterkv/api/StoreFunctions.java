package io.fasterkv.api;

/**
 * What an application does with its values (SIGMOD'18, appendix E).
 *
 * <p>Every callback runs on the thread of the session that owns this object, under epoch
 * protection: it must be short, must not block and must not call the store. It may run more than
 * once for one operation, since an attempt that loses a race is repeated: an updater's only effect
 * is on the span it is given. The store keeps a record that is being updated in place from every
 * other updater, and gives readers bytes that no updater is changing: no callback ever sees a torn
 * value.
 *
 * @param <I> what an operation carries in, for example the amount to add
 * @param <O> what a read carries out
 * @param <C> the caller's own object, handed back when a pending operation ends
 */
public interface StoreFunctions<I, O, C> {

  /** Reads a record that nobody can change: it is read-only, or it lies on disk. */
  void singleReader(ByteSpan key, I input, ByteSpan value, O output);

  /** Reads a record that may be updated in place; it is given a consistent copy of the bytes. */
  default void concurrentReader(ByteSpan key, I input, ByteSpan value, O output) {
    singleReader(key, input, value, output);
  }

  /** Writes an upsert's value into a new record, whose capacity is at least the source's length. */
  default void singleWriter(ByteSpan key, ByteSpan source, ByteSpan value) {
    value.setTo(source);
  }

  /**
   * Writes an upsert's value over a record in place. Returns false, with nothing changed, when it
   * does not fit; the store then makes a new record.
   */
  default boolean concurrentWriter(ByteSpan key, ByteSpan source, ByteSpan value) {
    if (source.length() > value.capacity()) {
      return false;
    }
    value.setTo(source);
    return true;
  }

  /**
   * Whether an RMW makes a value where the key has none. If not, it ends there with {@link
   * Status#NOT_FOUND}, and writes nothing; it is never merged. Asked more than once for one
   * operation, with one answer.
   */
  default boolean needsInitialUpdate(ByteSpan key, I input) {
    return true;
  }

  /** How many bytes to allocate for a key's first value in an RMW; room to grow is allowed. */
  int initialBytes(ByteSpan key, I input);

  /** Writes a key's first value in an RMW and sets its length. */
  void initialUpdater(ByteSpan key, I input, ByteSpan value);

  /**
   * Changes a value in place in an RMW; the length may change within the capacity. Returns false,
   * with nothing changed, when the new value does not fit.
   */
  boolean inPlaceUpdater(ByteSpan key, I input, ByteSpan value);

  /**
   * Whether an RMW makes a successor of a value that it must not change in place. If not, it ends
   * there with {@link Status#FOUND}, and writes nothing. Of large values, of values that are merged
   * and where {@link #inPlaceUpdater} wants more room, a successor is made without asking.
   */
  default boolean needsCopyUpdate(ByteSpan key, I input, ByteSpan oldValue) {
    return true;
  }

  /** How many bytes to allocate for the successor of {@code oldValue} in an RMW. */
  int copyBytes(ByteSpan key, I input, ByteSpan oldValue);

  /** Writes the successor of {@code oldValue} in an RMW and sets its length. */
  void copyUpdater(ByteSpan key, I input, ByteSpan oldValue, ByteSpan newValue);

  /**
   * Called once for each operation that returned {@link Status#PENDING}, when it has ended without
   * a failure.
   */
  default void completionCallback(Status status, I input, O output, C context) {}
}
