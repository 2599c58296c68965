package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;

/**
 * Writes to state that answer nothing. Neither keys nor bytes are kept after a call. For one thread
 * at a time.
 */
public interface StateWrites {
  /**
   * Sets a value.
   *
   * @param bytes holds at {@code offset} a byte for the tag, and behind it the value
   * @param length of the value and its tag
   */
  void putValue(CompositeKey key, byte[] bytes, int offset, int length);

  /** Removes a value, if there is one. */
  void removeValue(CompositeKey key);

  /** Makes these elements the whole list; see {@link ByteLists#set}. */
  void setList(CompositeKey key, byte[] elements, int offset, int count);

  /** Appends elements to a list; see {@link ByteLists#append}. */
  void append(CompositeKey key, byte[] elements, int offset, int count);

  /** Removes a list, if there is one. */
  void removeList(CompositeKey key);

  /**
   * Sets a user key's value.
   *
   * @param bytes holds at {@code offset} the user key, and behind it the value
   */
  void putEntry(CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength);

  /** Removes a user key, if the map has it. */
  void removeEntry(CompositeKey key, byte[] bytes, int offset, int length);

  /** Removes all entries of a map. */
  void clearMap(CompositeKey key);
}
