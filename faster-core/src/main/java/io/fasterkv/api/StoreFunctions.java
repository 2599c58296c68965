package io.fasterkv.api;

/**
 * Defines what an application does with its values (SIGMOD'18, appendix E).
 *
 * <p>Every callback runs on the thread of the session that owns this object, under epoch
 * protection. It must be short, must not block and must not call the store. It may run more than
 * once for one operation, because an attempt that loses a race is repeated; an updater's only
 * effects must be on the span and on the output that it receives, and each call must set the output
 * anew. While a record is updated in place, the store lets no other updater change it, and gives
 * readers only bytes that no updater is changing: no callback ever sees a torn value.
 *
 * @param <I> the input of an operation, for example the amount to add
 * @param <O> the output of an operation
 * @param <C> the caller's own object, returned when a pending operation ends
 */
public interface StoreFunctions<I, O, C> {

  /**
   * Reads a record that cannot change: it is read-only, or on disk.
   *
   * @param key the key
   * @param input the operation's input
   * @param value the value
   * @param output the operation's output
   * @param record the record
   */
  void singleReader(ByteSpan key, I input, ByteSpan value, O output, RecordView record);

  /**
   * Reads a record that may be updated in place. The value is a consistent copy of the bytes.
   *
   * @param key the key
   * @param input the operation's input
   * @param value the value
   * @param output the operation's output
   * @param record the record
   */
  default void concurrentReader(
      ByteSpan key, I input, ByteSpan value, O output, RecordView record) {
    singleReader(key, input, value, output, record);
  }

  /**
   * Writes an upsert's value into a new record.
   *
   * @param key the key
   * @param input the operation's input
   * @param source the upsert's value
   * @param value the record's value, with a capacity of at least the source's length
   * @param output the operation's output
   * @param record the record
   */
  default void singleWriter(
      ByteSpan key, I input, ByteSpan source, ByteSpan value, O output, RecordView record) {
    value.setTo(source);
  }

  /**
   * Overwrites a record's value in place with an upsert's value. If the value does not fit, the
   * store creates a new record.
   *
   * @param key the key
   * @param input the operation's input
   * @param source the upsert's value
   * @param value the record's value, the old one at first
   * @param output the operation's output
   * @param record the record
   * @return false, with value and output unchanged, if the new value does not fit
   */
  default boolean concurrentWriter(
      ByteSpan key, I input, ByteSpan source, ByteSpan value, O output, RecordView record) {
    if (source.length() > value.capacity()) {
      return false;
    }
    value.setTo(source);
    return true;
  }

  /**
   * Tells whether an RMW creates a value if the key has none. If not, the RMW ends with {@link
   * Status#NOT_FOUND}, writes nothing, and is never merged. May be called more than once for one
   * operation, and must give the same answer each time.
   *
   * @param key the key
   * @param input the operation's input
   * @return true to create a value
   */
  default boolean needsInitialUpdate(ByteSpan key, I input) {
    return true;
  }

  /**
   * Computes how many bytes to allocate for a key's first value in an RMW. It may include room to
   * grow.
   *
   * @param key the key
   * @param input the operation's input
   * @return the number of bytes
   */
  int initialBytes(ByteSpan key, I input);

  /**
   * Writes a key's first value in an RMW and sets its length.
   *
   * @param key the key
   * @param input the operation's input
   * @param value receives the value
   * @param output the operation's output
   * @param record the record
   */
  void initialUpdater(ByteSpan key, I input, ByteSpan value, O output, RecordView record);

  /**
   * Changes a value in place in an RMW. The length may change within the capacity.
   *
   * @param key the key
   * @param input the operation's input
   * @param value the value
   * @param output the operation's output
   * @param record the record
   * @return false, with value and output unchanged, if the new value does not fit
   */
  boolean inPlaceUpdater(ByteSpan key, I input, ByteSpan value, O output, RecordView record);

  /**
   * Tells whether an RMW replaces a value that it must not change in place. If not, the RMW ends
   * with {@link Status#FOUND} and writes nothing. The store does not ask, and always replaces, for
   * large values, for merged values, and where {@link #inPlaceUpdater} needs more room.
   *
   * @param key the key
   * @param input the operation's input
   * @param oldValue the current value
   * @param output the operation's output; may be set only if the answer is false
   * @return true to replace the value
   */
  default boolean needsCopyUpdate(ByteSpan key, I input, ByteSpan oldValue, O output) {
    return true;
  }

  /**
   * Computes how many bytes to allocate for the new value in an RMW that copies.
   *
   * @param key the key
   * @param input the operation's input
   * @param oldValue the current value
   * @return the number of bytes
   */
  int copyBytes(ByteSpan key, I input, ByteSpan oldValue);

  /**
   * Writes the new value in an RMW that copies, and sets its length.
   *
   * @param key the key
   * @param input the operation's input
   * @param oldValue the current value
   * @param newValue receives the new value
   * @param output the operation's output
   * @param record the record
   */
  void copyUpdater(
      ByteSpan key, I input, ByteSpan oldValue, ByteSpan newValue, O output, RecordView record);

  /**
   * Handles the end of an operation that had returned {@link Status#PENDING} and has not failed.
   * Called once for each such operation.
   *
   * @param status how the operation ended
   * @param input the operation's input
   * @param output the operation's output
   * @param context the object passed with the operation
   */
  default void completionCallback(Status status, I input, O output, C context) {}
}
