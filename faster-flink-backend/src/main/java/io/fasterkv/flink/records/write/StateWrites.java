package io.fasterkv.flink.records.write;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.list.ByteLists;

/**
 * Writes to state that return nothing. No call keeps its key or its bytes. For one thread at a
 * time.
 */
public interface StateWrites {
  /**
   * Sets a value.
   *
   * @param bytes holds a byte for the tag at {@code offset}, and the value after it
   * @param length length of the value and its tag
   */
  void putValue(CompositeKey key, byte[] bytes, int offset, int length);

  /** Removes a value, if there is one. */
  void removeValue(CompositeKey key);

  /** Replaces the whole list by these elements; see {@link ByteLists#set}. */
  void setList(CompositeKey key, byte[] elements, int offset, int count);

  /** Appends elements to a list; see {@link ByteLists#append}. */
  void append(CompositeKey key, byte[] elements, int offset, int count);

  /** Removes a list, if there is one. */
  void removeList(CompositeKey key);

  /**
   * Sets a user key's value.
   *
   * @param bytes holds the user key at {@code offset}, and the value after it
   */
  void putEntry(CompositeKey key, byte[] bytes, int offset, int keyLength, int valueLength);

  /** Removes a user key if the map has it. */
  void removeEntry(CompositeKey key, byte[] bytes, int offset, int length);

  /** Removes all entries of a map. */
  void clearMap(CompositeKey key);
}
