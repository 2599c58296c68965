package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.CompositeKey;

/**
 * How maps spread over buckets and grow by linear hashing, shaped as {@link MapLayout} draws it.
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

  /** How often any map's bucket was split. */
  long splits() {
    return splits;
  }

  /** How often any map was cleared. */
  long clears() {
    return clears;
  }

  /** A map has been cleared. */
  void cleared() {
    clears++;
  }

  /** Spreads an inline map's entries over buckets; the caller writes the head. */
  void spread(CompositeKey key, MapHead head) {
    if (head.identity() == PartLayout.NONE) {
      head.makeRuns(records.takeIdentity());
    }
    ByteSpan entries = head.block().open(0);
    int size = entries.length() - head.entriesAt();
    int buckets = Math.max(FEWEST, Math.ceilDiv(size, bucketBytes()));
    int count = 0;
    for (int number = 0; number < buckets; number++) {
      start(stay, head.identity());
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
  static void start(HeapBlock bucket, long identity) {
    bucket.bytes().clear();
    bucket.bytes().appendLong(identity);
    ByteSpan block = bucket.open(Lanes.ENDS_BYTES);
    block.setLength(MapLayout.BUCKET_HEAD_BYTES);
    Lanes.makeEmpty(block);
    bucket.close();
  }

  /**
   * Splits buckets until they are no longer crowded; the caller writes the head. What has expired
   * and was dropped is still in the head's sums, so the bucket that has grown must be half full,
   * too, and is a sign for a few splits only.
   *
   * @param length of the bucket that has grown
   */
  void splitWhileCrowded(CompositeKey key, MapHead head, int length) {
    for (int splits = 0;
        splits < MOST_SPLITS
            && length > bucketBytes() / 2
            && head.size() > (long) head.buckets() * bucketBytes();
        splits++) {
      split(key, head.identity(), head.buckets());
      head.setBuckets(head.buckets() + 1);
    }
  }

  /** Whether none of the buckets is there. */
  boolean areEmpty(CompositeKey key, MapHead head) {
    for (int number = 0; number < head.buckets(); number++) {
      if (records.hasPart(key.record(MapLayout.FIRST_BUCKET + number), head.identity())) {
        return false;
      }
    }
    return true;
  }

  /** Moves to the new bucket what belongs there, all from one bucket. */
  private void split(CompositeKey key, long identity, int newBucket) {
    splits++;
    int old = newBucket - Integer.highestOneBit(newBucket);
    if (!records.readPart(key.record(MapLayout.FIRST_BUCKET + old), identity, from)) {
      return;
    }
    ByteSpan entries = from.open(0);
    start(stay, identity);
    start(move, identity);
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
   * Moves the largest entries of a bucket that got too long to runs. One that is full of tiny
   * entries stays as it is: there is room for several times the limit in a page.
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
