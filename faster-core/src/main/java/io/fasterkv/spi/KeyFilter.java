package io.fasterkv.spi;

import io.fasterkv.api.ByteSpan;

/**
 * Says which keys belong to a store. A log that was taken over from elsewhere may contain other
 * keys; their records are ignored: recovery leaves them out of the index, scans skip them, and
 * compaction drops them. Sessions must not use such keys.
 */
public interface KeyFilter {
  /**
   * Tells whether a key belongs to the store. May be called by any thread, for each record that a
   * scan reaches. The answer for a key must never change, and the filter must not retain the key.
   *
   * @param key the key
   * @return true if the key belongs to the store
   */
  boolean owns(ByteSpan key);

  /** Number of leading bytes of a key that {@link #mayOwn} receives. */
  int HEAD_BYTES = 4;

  /**
   * Tells from the first bytes of a key whether the key may belong to the store. A wrong yes only
   * costs room in the index; a wrong no is not allowed.
   *
   * @param head the first {@link #HEAD_BYTES} bytes of the key; a shorter key is padded with zeros
   * @return false if no such key belongs to the store
   */
  default boolean mayOwn(ByteSpan head) {
    return true;
  }
}
