package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;

/**
 * A map's head and the block that a user key's entry is in, or would be, on the heap, and where in
 * the block that is. For one thread at a time.
 */
final class MapPlace {
  private final Records records;
  private final MapRuns runs;
  private final UserKey userKey;
  private final MapHead head = new MapHead();
  private final HeapBlock bucket = new HeapBlock();
  private final EntryCursor cursor = new EntryCursor();

  MapPlace(Records records, MapRuns runs, UserKey userKey) {
    this.records = records;
    this.runs = runs;
    this.userKey = userKey;
  }

  MapHead head() {
    return head;
  }

  /** On the entry, if it was found. */
  EntryCursor cursor() {
    return cursor;
  }

  /** The bucket, or the head of a map without. */
  HeapBlock block() {
    return head.hasBuckets() ? bucket : head.block();
  }

  int firstEntryAt() {
    return head.hasBuckets() ? MapLayout.BUCKET_HEAD_BYTES : head.entriesAt();
  }

  /** Where in its bucket the entry belongs. */
  int lane() {
    return head.hasBuckets() ? Lanes.of(userKey.hash()) : Lanes.NONE;
  }

  int bucketSub() {
    return MapLayout.FIRST_BUCKET + MapLayout.bucketOf(userKey.hash(), head.buckets());
  }

  /** Loads the head, which is an empty one if there is none. */
  MapPlace load(CompositeKey key) {
    if (!records.read(key.head(), head.block())) {
      head.makeEmpty();
    }
    return this;
  }

  /** Loads the block of the head that is there, and finds the entry; false if there is none. */
  boolean find(CompositeKey key) {
    if (head.hasBuckets() && !records.readPart(key.record(bucketSub()), head.identity(), bucket)) {
      MapBuckets.start(bucket, head.identity());
    }
    boolean isThere = cursor.seek(block().open(0), firstEntryAt(), userKey);
    while (isThere && cursor.inRun() && !runs.holds(key, head.identity(), cursor.run(), userKey)) {
      isThere = cursor.seekNext(userKey);
    }
    return isThere;
  }

  /** Removes the entry that was found, whose block is open, and its run. */
  void remove(CompositeKey key) {
    if (cursor.inRun()) {
      runs.delete(key, head.identity(), cursor.run());
    }
    cursor.remove();
  }

  /** Adds the entry, whose value lies behind the user key, to the block, which is open. */
  void add(byte[] value, int length) {
    EntryCursor.append(
        block().span(), lane(), userKey, value, userKey.offset() + userKey.length(), length);
  }

  /** Writes the entry to a run, of which the block gets the name. */
  void addRun(CompositeKey key, byte[] value, int length) {
    long stamp = MapLayout.stamp(value, userKey.offset() + userKey.length(), length);
    int run = runs.write(key, head, userKey, value, length);
    EntryCursor.appendStub(block().span(), lane(), userKey.hash(), run, stamp);
  }
}
