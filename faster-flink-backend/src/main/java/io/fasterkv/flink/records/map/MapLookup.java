package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.RecordReader;
import org.jspecify.annotations.Nullable;

/** Finds a user key in an inline map or a bucket and may copy its value. */
final class MapLookup implements RecordReader {

  /** The result of a lookup. */
  enum Result {
    MISSING,
    FOUND,
    /** The user key may have an entry in a run. */
    IN_RUN,
    /** The map has buckets; its head was copied. */
    IN_BUCKETS
  }

  private final EntryCursor cursor = new EntryCursor();
  private final UserKey key;
  private final RecordReader taken;
  private @Nullable Bytes into;
  private boolean head;
  private Result result = Result.MISSING;

  /**
   * @param taken receives the heads of maps with buckets
   */
  MapLookup(UserKey key, RecordReader taken) {
    this.key = key;
    this.taken = taken;
  }

  /**
   * Prepares for a block.
   *
   * @param target receives the value; null to leave it where it is
   */
  MapLookup in(boolean headRecord, @Nullable Bytes target) {
    head = headRecord;
    into = target;
    result = Result.MISSING;
    return this;
  }

  Result result() {
    return result;
  }

  private int entriesAt(ByteSpan block) {
    return head
        ? MapLayout.entriesAt(block.getByte(MapLayout.TAG_AT))
        : MapLayout.BUCKET_HEAD_BYTES;
  }

  @Override
  public void read(ByteSpan block) {
    if (head && block.getByte(MapLayout.TAG_AT) == MapLayout.BUCKETS) {
      taken.read(block);
      result = Result.IN_BUCKETS;
    } else if (!cursor.seek(block, entriesAt(block), key)) {
      result = Result.MISSING;
    } else if (cursor.inRun()) {
      result = Result.IN_RUN;
    } else {
      result = Result.FOUND;
      copyValue(block);
    }
  }

  private void copyValue(ByteSpan block) {
    Bytes target = into;
    if (target != null) {
      target.clear();
      target.setLength(cursor.valueLength());
      block.copyTo(cursor.valueAt(), target.array(), 0, cursor.valueLength());
    }
  }
}
