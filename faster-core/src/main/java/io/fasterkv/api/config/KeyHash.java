package io.fasterkv.api.config;

import java.lang.foreign.MemorySegment;

/**
 * Hashes a key's bytes to 64 bits. The high bits select the bucket in order: a hash whose high bits
 * grow with the key group keeps the entries of a key group in one range of the index. The 14 bits
 * that follow those of the bucket are the tag: keys that have these and the bucket in common share
 * a chain. So the upper 48 bits should be evenly distributed among the keys of a group. The
 * function must be pure and safe for all threads, and every process that opens the same files must
 * hash a key alike.
 */
@FunctionalInterface
public interface KeyHash {

  /**
   * Hashes the bytes of one key.
   *
   * @param memory native memory that contains the key
   * @param offset where the key starts, in bytes
   * @param length length of the key, in bytes
   * @return the hash
   */
  long hash(MemorySegment memory, long offset, int length);
}
