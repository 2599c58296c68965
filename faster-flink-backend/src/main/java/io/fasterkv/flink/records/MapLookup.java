package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/** Looks for a user key in an inline map or in a bucket and takes a copy of its value. */
final class MapLookup implements RecordReader {

  /** What a lookup found. */
  enum Result {
    MISSING,
    FOUND,
    /** An entry in a run may be the user key's. */
    IN_RUN,
    /** The map has buckets. */
    IN_BUCKETS
  }

  private final EntryCursor cursor = new EntryCursor();
  private final UserKey key;
  private Bytes into = new Bytes();
  private boolean head;
  private Result result = Result.MISSING;
  private int buckets;
  private long identity;

  MapLookup(UserKey key) {
    this.key = key;
  }

  MapLookup in(boolean headRecord, Bytes target) {
    head = headRecord;
    into = target;
    result = Result.MISSING;
    return this;
  }

  Result result() {
    return result;
  }

  /** Meaningful after {@link Result#IN_BUCKETS}. */
  int buckets() {
    return buckets;
  }

  /** The map's identity; meaningful after {@link Result#IN_BUCKETS}. */
  long identity() {
    return identity;
  }

  private int entriesAt(ByteSpan block) {
    return head
        ? MapLayout.entriesAt(block.getByte(MapLayout.TAG_AT))
        : MapLayout.BUCKET_HEAD_BYTES;
  }

  @Override
  public void read(ByteSpan block) {
    if (head && block.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS) {
      buckets = block.getInt(MapLayout.BUCKETS_AT);
      identity = PartLayout.ofHead(block);
      result = Result.IN_BUCKETS;
    } else if (!cursor.seek(block, entriesAt(block), key)) {
      result = Result.MISSING;
    } else if (cursor.inRun()) {
      result = Result.IN_RUN;
    } else {
      result = Result.FOUND;
      into.clear();
      into.setLength(cursor.valueLength());
      block.copyTo(cursor.valueAt(), into.array(), 0, cursor.valueLength());
    }
  }
}
