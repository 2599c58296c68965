package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.PartLayout;
import io.fasterkv.flink.records.base.Records;

/**
 * Spreads maps over buckets and grows them by linear hashing, in the shape that {@link MapLayout}
 * draws.
 */
final class MapBuckets {
  private static final int FEWEST = 2;
  private static final int NONE = -1;
  private static final int MOST_SPLITS = 8;

  private final Records records;
  private final MapRuns runs;
  private final HeapBlock from = new HeapBlock();
  private final HeapBlock stay = new HeapBlock();
  private final HeapBlock move = new HeapBlock();
  private final EntryCursor cursor = new EntryCursor();
  private final UserKey userKey = new UserKey();
  private long splits;
  private long clears;

  MapBuckets(Records records, MapRuns runs) {
    this.records = records;
    this.runs = runs;
  }

  int entryLimit() {
    return MapLayout.entryLimit(records.limit());
  }

  int inlineLimit() {
    return MapLayout.inlineLimit(records.limit());
  }

  private int bucketBytes() {
    return MapLayout.bucketBytes(records.limit());
  }

  int bucketLimit() {
    return MapLayout.bucketLimit(records.limit());
  }

  /** Number of bucket splits in all maps. */
  long splits() {
    return splits;
  }

  /** Number of times any map was cleared. */
  long clears() {
    return clears;
  }

  /** Called after a map was cleared. */
  void cleared() {
    clears++;
  }

  /** Moves an inline map's entries to buckets; the caller writes the head. */
  void spread(CompositeKey key, MapHead head) {
    if (head.incarnation() == PartLayout.NONE) {
      head.makeRuns(records.takeIncarnation());
    }
    ByteSpan entries = head.block().open(0);
    int size = entries.length() - head.entriesAt();
    int buckets = Math.max(FEWEST, Math.ceilDiv(size, bucketBytes()));
    int count = 0;
    for (int number = 0; number < buckets; number++) {
      start(stay, head.incarnation());
      ByteSpan bucket = stay.open(size);
      cursor.on(entries, head.entriesAt());
      while (cursor.next()) {
        long hash = hash(head.block());
        if (MapLayout.bucketOf(hash, buckets) == number) {
          cursor.copyTo(bucket, Lanes.of(hash));
          count++;
        }
      }
      stay.close();
      putIfAny(key, number, stay);
    }
    head.makeBuckets(buckets, count, size);
  }

  /** Makes a block an empty bucket. */
  static void start(HeapBlock bucket, long incarnation) {
    bucket.bytes().clear();
    bucket.bytes().appendLong(incarnation);
    ByteSpan block = bucket.open(Lanes.ENDS_BYTES);
    block.setLength(MapLayout.BUCKET_HEAD_BYTES);
    Lanes.makeEmpty(block);
    bucket.close();
  }

  /**
   * Splits buckets until they are no longer crowded; the caller writes the head. The head's sums
   * still count expired entries that were dropped. So the bucket that has grown must also be half
   * full, and it justifies only a few splits.
   *
   * @param length length of the bucket that has grown
   */
  void splitWhileCrowded(CompositeKey key, MapHead head, int length) {
    for (int splits = 0;
        splits < MOST_SPLITS
            && length > bucketBytes() / 2
            && head.size() > (long) head.buckets() * bucketBytes();
        splits++) {
      split(key, head.incarnation(), head.buckets());
      head.setBuckets(head.buckets() + 1);
    }
  }

  /** Whether the store has none of the buckets. */
  boolean areEmpty(CompositeKey key, MapHead head) {
    for (int number = 0; number < head.buckets(); number++) {
      if (records.hasPart(key.record(MapLayout.FIRST_BUCKET + number), head.incarnation())) {
        return false;
      }
    }
    return true;
  }

  /** Moves the entries that belong to the new bucket from the one bucket that has them. */
  private void split(CompositeKey key, long incarnation, int newBucket) {
    splits++;
    int old = newBucket - Integer.highestOneBit(newBucket);
    if (!records.readPart(key.record(MapLayout.FIRST_BUCKET + old), incarnation, from)) {
      return;
    }
    ByteSpan entries = from.open(0);
    start(stay, incarnation);
    start(move, incarnation);
    ByteSpan staying = stay.open(entries.length());
    ByteSpan moving = move.open(entries.length());
    cursor.on(entries, MapLayout.BUCKET_HEAD_BYTES);
    while (cursor.next()) {
      long hash = hash(from);
      boolean moves = MapLayout.bucketOf(hash, newBucket + 1) == newBucket;
      cursor.copyTo(moves ? moving : staying, Lanes.of(hash));
    }
    stay.close();
    move.close();
    putIfAny(key, newBucket, move);
    if (stay.bytes().length() == MapLayout.BUCKET_HEAD_BYTES) {
      records.delete(key.record(MapLayout.FIRST_BUCKET + old));
    } else {
      records.put(key.record(MapLayout.FIRST_BUCKET + old), stay.bytes(), 0);
    }
  }

  private void putIfAny(CompositeKey key, int number, HeapBlock bucket) {
    int length = bucket.bytes().length();
    if (length > MapLayout.BUCKET_HEAD_BYTES) {
      int room = Math.min(length + length / 2, bucketLimit());
      records.put(key.record(MapLayout.FIRST_BUCKET + number), bucket.bytes(), room);
    }
  }

  private long hash(HeapBlock block) {
    return cursor.inRun()
        ? cursor.hashOfRun()
        : UserKey.hash(block.bytes().array(), cursor.keyAt(), cursor.keyLength());
  }

  /**
   * Moves the largest entries of a bucket that has become too long to runs. A bucket full of tiny
   * entries stays as it is: a page has room for several times the limit.
   */
  void shorten(CompositeKey key, MapHead head, HeapBlock bucket) {
    while (bucket.bytes().length() > bucketLimit()) {
      ByteSpan entries = bucket.open(EntryCursor.STUB_BYTES);
      int largest = largestEntry(entries);
      if (largest == NONE) {
        return;
      }
      cursor.inBucket(entries, largest).next();
      byte[] array = bucket.bytes().array();
      userKey.of(array, cursor.keyAt(), cursor.keyLength());
      long hash = userKey.hash();
      long stamp = MapLayout.stamp(array, cursor.valueAt(), cursor.valueLength());
      int run = runs.write(key, head, userKey, array, cursor.valueLength());
      cursor.remove();
      EntryCursor.appendStub(entries, Lanes.of(hash), hash, run, stamp);
      bucket.close();
    }
  }

  private int largestEntry(ByteSpan entries) {
    int largest = NONE;
    int most = EntryCursor.STUB_BYTES;
    cursor.on(entries, MapLayout.BUCKET_HEAD_BYTES);
    while (cursor.next()) {
      if (!cursor.inRun() && cursor.length() > most) {
        largest = cursor.start();
        most = cursor.length();
      }
    }
    return largest;
  }
}
