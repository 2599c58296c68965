package io.fasterkv.flink.records.map;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.Records;

/**
 * Copies of a map's head and of the block that has or would have a user key's entry, and the
 * entry's position in the block. For one thread at a time.
 */
final class MapPlace {
  private final Records records;
  private final MapRuns runs;
  private final UserKey userKey;
  private final KeptHead kept = new KeptHead();
  private final MapHead head = kept.head();
  private final HeapBlock bucket = new HeapBlock();
  private final EntryCursor cursor = new EntryCursor();

  MapPlace(Records records, MapRuns runs, UserKey userKey) {
    this.records = records;
    this.runs = runs;
    this.userKey = userKey;
  }

  /** The head, and whether it is the stored one. */
  KeptHead kept() {
    return kept;
  }

  /** The cursor, which is on the entry if it was found. */
  EntryCursor cursor() {
    return cursor;
  }

  /** The bucket, or the head of a map without buckets. */
  HeapBlock block() {
    return head.hasBuckets() ? bucket : head.block();
  }

  int firstEntryAt() {
    return head.hasBuckets() ? MapLayout.BUCKET_HEAD_BYTES : head.entriesAt();
  }

  /** The lane of the bucket that the entry belongs to. */
  int lane() {
    return head.hasBuckets() ? Lanes.of(userKey.hash()) : Lanes.NONE;
  }

  /** Loads the head unless it is kept; makes an empty one and returns false if there is none. */
  boolean load(CompositeKey key) {
    if (kept.isOf(key)) {
      return true;
    }
    boolean isPresent = records.read(key.head(), kept);
    if (isPresent) {
      kept.keep(key);
    } else {
      kept.drop();
      head.makeEmpty();
    }
    return isPresent;
  }

  /** The number of the user key's bucket. */
  int bucketPart() {
    return MapLayout.FIRST_BUCKET + MapLayout.bucketOf(userKey.hash(), head.buckets());
  }

  /** Loads the block by the loaded head and finds the entry; returns false if there is none. */
  boolean find(CompositeKey key) {
    if (head.hasBuckets()
        && !records.readPart(key.record(bucketPart()), head.incarnation(), bucket)) {
      MapBuckets.start(bucket, head.incarnation());
    }
    boolean isPresent = cursor.seek(block().open(0), firstEntryAt(), userKey);
    while (isPresent
        && cursor.inRun()
        && !runs.holds(key, head.incarnation(), cursor.run(), userKey)) {
      isPresent = cursor.seekNext(userKey);
    }
    return isPresent;
  }

  /** Removes the entry that was found from its open block, and its run. */
  void remove(CompositeKey key) {
    if (cursor.inRun()) {
      runs.delete(key, head.incarnation(), cursor.run());
    }
    cursor.remove();
  }

  /** Adds the entry to the open block; its value follows the user key. */
  void add(byte[] value, int length) {
    EntryCursor.append(
        block().span(), lane(), userKey, value, userKey.offset() + userKey.length(), length);
  }

  /** Writes the entry to a run and adds an entry that names the run to the block. */
  void addRun(CompositeKey key, byte[] value, int length) {
    long stamp = MapLayout.stamp(value, userKey.offset() + userKey.length(), length);
    int run = runs.write(key, head, userKey, value, length);
    EntryCursor.appendStub(block().span(), lane(), userKey.hash(), run, stamp);
  }
}
