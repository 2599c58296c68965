package io.fasterkv.api;

import java.lang.foreign.MemorySegment;

/**
 * Hashes a key's bytes to 64 bits. The high bits choose the bucket, in order: a hash whose high
 * bits grow with a key group keeps a key group's entries in one range of the index. The low 14 bits
 * are the tag. Must be pure and safe for all threads; the same keys must hash alike in every
 * process that opens the same files.
 */
@FunctionalInterface
public interface KeyHash {

  /** The hash of {@code length} bytes of native {@code memory} from {@code offset} on. */
  long hash(MemorySegment memory, long offset, int length);
}
