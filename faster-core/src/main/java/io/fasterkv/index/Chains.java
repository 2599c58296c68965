package io.fasterkv.index;

import io.fasterkv.record.HashTag;

/**
 * Answers a resize's questions about the records behind index entries. Called by protected threads,
 * several at a time.
 */
public interface Chains {
  /** The log has no room: the caller must leave its epoch and retry. */
  long RETRY = -1;

  /** No record of a chain is at or above this address; for a bucket that no thread changes. */
  long tailAddress();

  /** The hashes of one bucket, or those of one tag in it. */
  record Part(long mainBuckets, long tagBase, long bucket, long tag) {
    /** Stands for hashes of any tag. */
    static final long ANY_TAG = -1;

    Part(IndexTable table, long bucket, long tag) {
      this(table.mainBuckets(), table.tagBase(), bucket, tag);
    }

    public boolean contains(long hash) {
      return Math.unsignedMultiplyHigh(hash, mainBuckets) == bucket
          && (tag == ANY_TAG || tag == HashTag.of(hash, tagBase));
    }

    public boolean isOfOneTag() {
      return tag != ANY_TAG;
    }
  }

  /** Receives a record. */
  @FunctionalInterface
  interface RecordSink {
    void record(long hash, long address);
  }

  /**
   * The newest record of a part in the chain that begins at {@code address}. If memory has none,
   * the first address of the chain that is not in memory, which may lead to one; 0 at the end of
   * the chain.
   */
  long first(long address, Part part);

  /**
   * Passes all records of a part that the chain has in memory to the sink, newest first. Returns 0
   * at the end of the chain, otherwise the address where it continues.
   */
  long records(long address, Part part, RecordSink sink);

  /**
   * A chain that is {@code left} for hashes of even buckets and {@code right} for those of odd
   * ones, given the number of main buckets; 0 if both have ended, or {@link #RETRY}.
   */
  long join(long left, long right, long mainBuckets);

  /**
   * A chain that is {@code ofTag} for one tag and {@code others} for all others, or {@link #RETRY}.
   *
   * @param base what the tag counts from
   */
  long joinByTag(long others, long ofTag, long base, long tag);
}
