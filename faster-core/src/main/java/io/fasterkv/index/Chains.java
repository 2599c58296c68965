package io.fasterkv.index;

import io.fasterkv.record.ForkRecord;

/**
 * What a resize has to know about the records behind the entries, which the index does not know
 * itself. Called by protected threads, several at a time.
 */
public interface Chains {
  /** The log has no room now: the caller leaves its epoch and comes again. */
  long RETRY = -1;

  /** Hashes of one bucket, all of them or those of one tag. */
  record Part(long mainBuckets, long bucket, long tag) {
    /** In the place of a tag: hashes of any. */
    static final long ANY_TAG = -1;

    public boolean contains(long hash) {
      return Math.unsignedMultiplyHigh(hash, mainBuckets) == bucket
          && (tag == ANY_TAG || tag == ForkRecord.tag(hash));
    }

    public boolean isOfOneTag() {
      return tag != ANY_TAG;
    }
  }

  /** Told of a record. */
  @FunctionalInterface
  interface RecordSink {
    void record(long hash, long address);
  }

  /**
   * The newest record of a part in the chain that begins at {@code address}. Where memory has none,
   * the first address of the chain that was not looked at, which may lead to one; 0 when there is
   * nothing more.
   */
  long first(long address, Part part);

  /**
   * Tells of all records of a part, newest first, that the chain has in memory. Returns 0 when that
   * is all of them, else where the chain goes on.
   */
  long records(long address, Part part, RecordSink sink);

  /**
   * A chain that is {@code left} for hashes of even buckets and {@code right} for those of odd
   * ones, of a number of main buckets; 0 when both have ended, or {@link #RETRY}.
   */
  long join(long left, long right, long mainBuckets);

  /** A chain that is {@code ofTag} for one tag and {@code others} for others, or {@link #RETRY}. */
  long joinByTag(long others, long ofTag, long tag);
}
