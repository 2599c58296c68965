package io.fasterkv.index;

import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import java.util.Arrays;

/**
 * The entries of one main bucket and its overflow buckets, read when no thread changes them any
 * more. Entry {@code i} is number {@code i % 7} of bucket {@code i / 7} in the chain.
 */
final class FrozenChain {
  private final long[] words;
  private final boolean isSaturated;

  FrozenChain(IndexTable table, long bucket) {
    long main = bucket * BucketLayout.BYTES;
    isSaturated = table.isSaturated(main);
    long[] read = new long[BucketLayout.ENTRIES];
    int count = 0;
    for (long at = main; at >= 0; at = table.next(at)) {
      read = count == read.length ? Arrays.copyOf(read, 2 * count) : read;
      for (int slot = 0; slot < BucketLayout.ENTRIES; slot++) {
        read[count++] = Words.loadPlain(table.memory(), at + (long) slot * Long.BYTES);
      }
    }
    words = Arrays.copyOf(read, count);
  }

  boolean isSaturated() {
    return isSaturated;
  }

  int overflowBuckets() {
    return words.length / BucketLayout.ENTRIES - 1;
  }

  /** Number of entries, including free ones. */
  int size() {
    return words.length;
  }

  /** Number of entries in use. */
  int entries() {
    int entries = 0;
    for (long word : words) {
      entries += word != 0 ? 1 : 0;
    }
    return entries;
  }

  /** An entry's word; 0 if it is free. */
  long word(int i) {
    return words[i];
  }

  /** Whether the chain of an entry may have records of other tags. */
  boolean isShared(int i) {
    return isSaturated && i < BucketLayout.ENTRIES;
  }

  boolean hasOwn(long tag) {
    return own(tag) >= 0;
  }

  /** Address of a tag's records, by its own entry or the one it shares; 0 if there are none. */
  long address(long tag) {
    int own = own(tag);
    if (own >= 0) {
      return BucketLayout.address(words[own]);
    }
    return shared(BucketLayout.sharedEntry(tag));
  }

  /** The chain of a shared entry, for tags without an entry of their own; 0 if there is none. */
  long shared(int slot) {
    return isSaturated ? BucketLayout.address(words[slot]) : Address.NONE;
  }

  private int own(long tag) {
    for (int i = 0; i < words.length; i++) {
      if (words[i] != 0 && BucketLayout.tag(words[i]) == tag) {
        return i;
      }
    }
    return -1;
  }
}
