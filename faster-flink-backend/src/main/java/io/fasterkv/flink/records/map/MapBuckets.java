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
  private static final int PROBES = 8;

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

  int bucketBytes() {
    return MapLayout.bucketBytes(records.limit());
  }

  /** Whether a bucket that has grown to this length causes a split. */
  boolean isCrowded(int length) {
    return length > MapLayout.crowdedBytes(records.limit());
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
    int used = 0;
    for (int number = 0; number < buckets; number++) {
      start(stay, head.incarnation());
      ByteSpan bucket = stay.open(size);
      cursor.on(entries, head.entriesAt());
      while (cursor.next()) {
        long hash = hash(head.block());
        if (MapLayout.bucketOf(hash, buckets) == number) {
          cursor.copyTo(bucket, Lanes.of(hash));
        }
      }
      stay.close();
      used += putIfAny(key, number, stay);
    }
    head.makeBuckets(buckets, used);
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

  /** Whether the store has none of the buckets. */
  boolean areEmpty(CompositeKey key, MapHead head) {
    for (int number = 0; number < head.buckets(); number++) {
      if (records.hasPart(key.record(MapLayout.FIRST_BUCKET + number), head.incarnation())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Adds a bucket: moves the entries that belong to it from the one bucket that has them, unless
   * that one is short or most buckets are empty. The caller writes the head.
   *
   * @return whether there is a new bucket
   */
  boolean split(CompositeKey key, MapHead head) {
    long incarnation = head.incarnation();
    int newBucket = head.buckets();
    int old = newBucket - Integer.highestOneBit(newBucket);
    if (!records.readPart(key.record(MapLayout.FIRST_BUCKET + old), incarnation, from)
        || from.bytes().length() <= bucketBytes()
        || !isDense(key, head)) {
      return false;
    }
    splits++;
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
    head.setBuckets(newBucket + 1);
    head.addUsed(putIfAny(key, newBucket, move) - 1);
    head.addUsed(putOrDelete(key, old, stay));
    return true;
  }

  /**
   * Whether half of the buckets have entries, so that there are at most twice as many as the map
   * needs. If a bucket has room for one entry only, two entries that meet are no reason to split.
   * Where entries expire, the head may count too many, so a few buckets are looked up.
   */
  private boolean isDense(CompositeKey key, MapHead head) {
    if (2L * head.used() < head.buckets()) {
      return false;
    }
    if (!records.incarnations().isTimed(key.state())) {
      return true;
    }
    int found = 0;
    for (int probe = 0; probe < PROBES; probe++) {
      int number = (int) ((long) probe * head.buckets() / PROBES);
      boolean isThere =
          records.hasPart(key.record(MapLayout.FIRST_BUCKET + number), head.incarnation());
      found += isThere ? 1 : 0;
    }
    return 2 * found >= PROBES;
  }

  /** Stores a bucket with room to grow unless it has no entries; returns how many were stored. */
  private int putIfAny(CompositeKey key, int number, HeapBlock bucket) {
    int length = bucket.bytes().length();
    if (length == MapLayout.BUCKET_HEAD_BYTES) {
      return 0;
    }
    int room = Math.min(length + length / 2, bucketLimit());
    records.put(key.record(MapLayout.FIRST_BUCKET + number), bucket.bytes(), room);
    return 1;
  }

  /** Stores a bucket, or deletes it if it has no entries; returns how many were stored. */
  int putOrDelete(CompositeKey key, int number, HeapBlock bucket) {
    if (bucket.bytes().length() == MapLayout.BUCKET_HEAD_BYTES) {
      records.delete(key.record(MapLayout.FIRST_BUCKET + number));
      return 0;
    }
    records.put(key.record(MapLayout.FIRST_BUCKET + number), bucket.bytes(), 0);
    return 1;
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
