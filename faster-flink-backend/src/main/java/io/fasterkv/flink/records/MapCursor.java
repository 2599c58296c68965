package io.fasterkv.flink.records;

import io.fasterkv.flink.key.CompositeKey;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Walks over a map's entries. A map of up to {@link MapLayout#ORDERED_BYTES} bytes is read at once,
 * and its entries come in the order of their serialized user keys. A larger map, and one with large
 * entries, is read bucket by bucket, in no order: an entry that stays in the map meanwhile is seen
 * exactly once, with its value from before or after it was put anew, even if the map grows; one
 * that is added or removed meanwhile is seen at most once. The entries of a map that is cleared
 * meanwhile are seen as far as they have been read, and none of its successor. Bytes that were
 * handed out stay as they are. For the thread of the map.
 */
public final class MapCursor {
  private final Records records;
  private final MapBuckets buckets;
  private final MapRuns runs;
  private final CompositeKey key = new CompositeKey();
  private final MapHead head = new MapHead();
  private final EntryCursor cursor = new EntryCursor();
  private final Deque<Integer> offspring = new ArrayDeque<>();
  private final ReplacedEntry replaced;
  private HeapBlock block = new HeapBlock();

  /** Where the block's entries begin. */
  private int entriesAt;

  private @Nullable OrderedEntries ordered;
  private long identity;
  private long splitsAtStart;
  private long clearsSeen;
  private int bucketsAtStart;
  private int nextBucket;
  private byte[] bytes = new byte[0];
  private int keyAt;
  private int keyLength;
  private int valueLength;

  MapCursor(Records records, MapBuckets buckets, byte[] prefix) {
    this.records = records;
    this.buckets = buckets;
    this.runs = new MapRuns(records);
    this.replaced = new ReplacedEntry(records, runs, key);
    key.setPrefix(prefix, 0, prefix.length);
  }

  /** Reads the head, or all of a small map; false if the map has no entries. */
  boolean start() {
    if (!records.read(key.head(), head.block())) {
      return false;
    }
    identity = head.identity();
    splitsAtStart = buckets.splits();
    clearsSeen = buckets.clears();
    if (head.hasBuckets()) {
      bucketsAtStart = head.buckets();
      cursor.on(block.open(0), 0);
    } else {
      block = head.block();
      entriesAt = head.entriesAt();
      cursor.on(block.open(0), entriesAt);
    }
    if (!head.everHadRuns() && (!head.hasBuckets() || head.size() <= MapLayout.ORDERED_BYTES)) {
      ordered = readAll();
    }
    return true;
  }

  private OrderedEntries readAll() {
    OrderedEntries all = new OrderedEntries();
    do {
      all.add(block, cursor);
    } while (loadNextBucket());
    all.sort();
    return all;
  }

  /** The map's own record keys, valid until the next call of any method. */
  public CompositeKey key() {
    return key;
  }

  /** Steps to the next entry; false at the end. */
  public boolean next() {
    if (ordered != null) {
      return ordered.next(cursor) && take(ordered.bytes());
    }
    while (true) {
      while (cursor.next()) {
        if (cursor.inRun() ? takeRun() : take(block.bytes().array())) {
          return true;
        }
      }
      if (!loadNextBucket()) {
        return false;
      }
    }
  }

  /** Holds user key and value; a fresh array for each bucket. */
  public byte[] bytes() {
    return bytes;
  }

  public int keyAt() {
    return keyAt;
  }

  public int keyLength() {
    return keyLength;
  }

  public int valueAt() {
    return keyAt + keyLength;
  }

  public int valueLength() {
    return valueLength;
  }

  private boolean take(byte[] array) {
    bytes = array;
    keyAt = cursor.keyAt();
    keyLength = cursor.keyLength();
    valueLength = cursor.valueLength();
    return true;
  }

  /** Takes the entry that the cursor's names; false if it has been removed meanwhile. */
  private boolean takeRun() {
    Bytes run = new Bytes();
    if (!runs.read(key, identity, cursor.run(), run)) {
      return takeReplaced();
    }
    bytes = run.array();
    keyAt = MapLayout.RUN_HEAD_BYTES;
    keyLength = MapLayout.runKeyLength(bytes, 0);
    valueLength = MapLayout.runLength(bytes, 0) - keyLength;
    return UserKey.hash(bytes, keyAt, keyLength) == cursor.hashOfRun() || takeReplaced();
  }

  private boolean takeReplaced() {
    if (!replaced.find(identity, cursor.hashOfRun(), block, entriesAt)) {
      return false;
    }
    bytes = replaced.bytes();
    keyAt = replaced.keyAt();
    keyLength = replaced.keyLength();
    valueLength = replaced.valueLength();
    return true;
  }

  /**
   * For another thread than the map's, which is not told of splits and clears: ends a walk.
   *
   * @throws MissingPart if the map is another now, or spread otherwise: what was seen counts not
   */
  public void checkSame() {
    MapHead now = new MapHead();
    boolean isSame =
        bucketsAtStart == 0
            || (records.read(key.head(), now.block())
                && now.identity() == identity
                && now.hasBuckets()
                && now.buckets() == bucketsAtStart);
    if (!isSame) {
      throw new MissingPart(records.identities().stateName(key.state()), key, nextBucket);
    }
  }

  private boolean loadNextBucket() {
    while (bucketsAtStart > 0 && isStillThere()) {
      Integer number = offspring.poll();
      if (number == null) {
        if (nextBucket >= bucketsAtStart) {
          return false;
        }
        number = nextBucket++;
      }
      if (buckets.splits() != splitsAtStart) {
        addOffspring(number);
      }
      HeapBlock loaded = new HeapBlock();
      if (records.readPart(key.record(MapLayout.FIRST_BUCKET + number), identity, loaded)) {
        block = loaded;
        entriesAt = MapLayout.BUCKET_HEAD_BYTES;
        cursor.on(block.open(0), entriesAt);
        return true;
      }
    }
    return false;
  }

  /** False once the map was cleared; what compaction has left of it is not to be seen. */
  private boolean isStillThere() {
    if (buckets.clears() == clearsSeen) {
      return true;
    }
    boolean isThere = records.read(key.head(), head.block()) && head.identity() == identity;
    if (isThere) {
      clearsSeen = buckets.clears();
    }
    return isThere;
  }

  /**
   * A bucket that was split since the start has given entries to buckets that did not exist then:
   * to its own number with one higher bit set.
   */
  private void addOffspring(int number) {
    if (!records.read(key.head(), head.block()) || head.identity() != identity) {
      return;
    }
    int now = head.buckets();
    int bit = number == 0 ? 1 : Integer.highestOneBit(number) << 1;
    for (; bit > 0 && number + bit < now; bit <<= 1) {
      if (number + bit >= bucketsAtStart) {
        offspring.add(number + bit);
      }
    }
  }
}
