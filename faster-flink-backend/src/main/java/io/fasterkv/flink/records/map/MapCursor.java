package io.fasterkv.flink.records.map;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.HeapBlock;
import io.fasterkv.flink.records.base.MissingPart;
import io.fasterkv.flink.records.base.Records;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over a map's entries.
 *
 * <p>A map of up to {@link MapLayout#ORDERED_BYTES} bytes is read at once; its entries are in the
 * order of their serialized user keys. A larger map, and one with large entries, is read bucket by
 * bucket, in no order. An entry that stays in the map during the iteration is returned exactly
 * once, with its old or its new value if it is replaced meanwhile, even if the map grows. An entry
 * that is added or removed meanwhile is returned at most once. If the map is cleared, the cursor
 * returns the entries it has already read and none of a successor map. Returned bytes never change.
 * For the map's thread.
 */
public final class MapCursor {
  private final Records records;
  private final MapBuckets buckets;
  private final MapRuns runs;
  private final byte[] prefix;
  private final EntryCursor cursor = new EntryCursor();

  /** Shared by all cursors of a thread; its contents are used up before the method returns. */
  private final MapHead head;

  private @Nullable CompositeKey key;
  private @Nullable Deque<Integer> offspring;
  private @Nullable ReplacedEntry replaced;

  /** The block that the cursor is in, which no other cursor uses; none if all has been read. */
  private @Nullable HeapBlock block;

  /** Position of the block's first entry. */
  private int entriesAt;

  private @Nullable OrderedEntries ordered;
  private long incarnation;
  private long splitsAtStart;
  private long clearsSeen;
  private int bucketsAtStart;
  private int nextBucket;
  private byte[] bytes = new byte[0];
  private int keyAt;
  private int keyLength;
  private int valueLength;

  /**
   * @param head the map's, which was just read; scratch of the map's thread
   */
  MapCursor(Records records, MapBuckets buckets, MapRuns runs, byte[] prefix, MapHead head) {
    this.records = records;
    this.buckets = buckets;
    this.runs = runs;
    this.prefix = prefix;
    this.head = head;
    incarnation = head.incarnation();
    splitsAtStart = buckets.splits();
    clearsSeen = buckets.clears();
    bucketsAtStart = head.hasBuckets() ? head.buckets() : 0;
    entriesAt = head.hasBuckets() ? MapLayout.BUCKET_HEAD_BYTES : head.entriesAt();
    long allBytes =
        head.hasBuckets()
            ? (long) head.used() * buckets.bucketBytes()
            : head.block().bytes().length();
    if (allBytes <= MapLayout.ORDERED_BYTES && !head.everHadRuns()) {
      ordered = readAll((int) allBytes);
    } else if (!head.hasBuckets()) {
      HeapBlock own = head.block().copy();
      block = own;
      cursor.on(own.open(0), entriesAt);
    }
  }

  /**
   * Copies all entries, block by block, out of the scratch that held the head.
   *
   * @param allBytes of the blocks, about
   */
  private OrderedEntries readAll(int allBytes) {
    boolean isInline = bucketsAtStart == 0;
    HeapBlock scratch = head.block();
    OrderedEntries all = new OrderedEntries(allBytes);
    if (isInline) {
      all.add(scratch, cursor.on(scratch.open(0), entriesAt));
    }
    while (loadNextBucket(scratch)) {
      all.add(scratch, cursor);
    }
    all.sort();
    return all;
  }

  /** The map's own record keys, valid until the next call of any method. */
  public CompositeKey key() {
    CompositeKey made = key;
    if (made == null) {
      made = new CompositeKey().setPrefix(prefix, 0, prefix.length);
      key = made;
    }
    return made;
  }

  /** Moves to the next entry; returns false at the end. */
  public boolean next() {
    if (ordered != null) {
      return ordered.next(cursor) && take(ordered.bytes());
    }
    while (true) {
      while (cursor.next()) {
        byte[] array = Objects.requireNonNull(block).bytes().array();
        if (cursor.inRun() ? takeRun() : take(array)) {
          return true;
        }
      }
      HeapBlock next = new HeapBlock();
      if (!loadNextBucket(next)) {
        return false;
      }
      block = next;
    }
  }

  /** The array with user key and value; a new one for each bucket. */
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

  /** Reads the run that the cursor's entry names; returns false if it was removed meanwhile. */
  private boolean takeRun() {
    Bytes run = new Bytes();
    if (!runs.read(key(), incarnation, cursor.run(), run)) {
      return takeReplaced();
    }
    bytes = run.array();
    keyAt = MapLayout.RUN_HEAD_BYTES;
    keyLength = MapLayout.runKeyLength(bytes, 0);
    valueLength = MapLayout.runLength(bytes, 0) - keyLength;
    return UserKey.hash(bytes, keyAt, keyLength) == cursor.hashOfRun() || takeReplaced();
  }

  private boolean takeReplaced() {
    ReplacedEntry finder = replaced;
    if (finder == null) {
      finder = new ReplacedEntry(records, runs, key());
      replaced = finder;
    }
    HeapBlock seen = Objects.requireNonNull(block);
    if (!finder.find(incarnation, cursor.hashOfRun(), seen, entriesAt)) {
      return false;
    }
    bytes = finder.bytes();
    keyAt = finder.keyAt();
    keyLength = finder.keyLength();
    valueLength = finder.valueLength();
    return true;
  }

  /**
   * Ends an iteration by a thread other than the map's, which does not see splits and clears.
   *
   * @throws MissingPart if the map was replaced or split; the entries seen are then not valid
   */
  public void checkSame() {
    MapHead now = new MapHead();
    boolean isSame =
        bucketsAtStart == 0
            || (records.read(key().head(), now.block())
                && now.incarnation() == incarnation
                && now.hasBuckets()
                && now.buckets() == bucketsAtStart);
    if (!isSame) {
      throw new MissingPart(records.incarnations().stateName(key().state()), key(), nextBucket);
    }
  }

  /** Loads the next bucket that has entries into a block; returns false if there is none. */
  private boolean loadNextBucket(HeapBlock into) {
    while (bucketsAtStart > 0 && isStillPresent()) {
      Integer number = offspring == null ? null : offspring.poll();
      if (number == null) {
        if (nextBucket >= bucketsAtStart) {
          return false;
        }
        number = nextBucket++;
      }
      if (buckets.splits() != splitsAtStart) {
        addOffspring(number);
      }
      if (records.readPart(key().record(MapLayout.FIRST_BUCKET + number), incarnation, into)) {
        cursor.on(into.open(0), entriesAt);
        return true;
      }
    }
    return false;
  }

  /** False once the map was cleared: compaction may have left buckets that must not be seen. */
  private boolean isStillPresent() {
    if (buckets.clears() == clearsSeen) {
      return true;
    }
    boolean isPresent =
        records.read(key().head(), head.block()) && head.incarnation() == incarnation;
    if (isPresent) {
      clearsSeen = buckets.clears();
    }
    return isPresent;
  }

  /**
   * A bucket that was split since the start has moved entries to buckets that did not exist then.
   * Their numbers are its own with one higher bit set.
   */
  private void addOffspring(int number) {
    if (!records.read(key().head(), head.block()) || head.incarnation() != incarnation) {
      return;
    }
    if (offspring == null) {
      offspring = new ArrayDeque<>();
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
