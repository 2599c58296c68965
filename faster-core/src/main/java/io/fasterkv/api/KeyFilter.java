package io.fasterkv.api;

/**
 * Says which keys a store is there for. Records of other keys, which a log that was taken over from
 * elsewhere may hold, count as if they were not there: a recovery leaves them out of the index,
 * scans step over them, and compaction drops them. No session works on such keys.
 */
public interface KeyFilter {
  /**
   * Whether the key is the store's. Called by any thread, for each record that a scan comes to; it
   * always says the same of a key, and keeps nothing of it.
   */
  boolean owns(ByteSpan key);

  /** How many bytes of a key {@link #mayOwn} sees. */
  int HEAD_BYTES = 4;

  /**
   * Whether a key that begins with these {@link #HEAD_BYTES} bytes, zeros behind a shorter one, may
   * be the store's. To say yes of others costs room in the index and no more.
   */
  default boolean mayOwn(ByteSpan head) {
    return true;
  }
}
