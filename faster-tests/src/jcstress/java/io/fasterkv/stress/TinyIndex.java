package io.fasterkv.stress;

import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexFill;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.HashTag;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * An index of one bucket chain in which other tags take all entries except a few, while two threads
 * each add a record to one tag's chain. The detector counts the records that can be reached
 * afterwards.
 */
public class TinyIndex {
  /** The tag that the threads insert; other tags are greater. */
  private static final long TAG = 3;

  /** The tag's entry, without an address; docs/FORMAT.md draws the bucket. */
  protected static final long ENTRY = 1L << 62 | TAG << 48;

  protected static final int ENTRIES = 7;
  private static final long OTHER = 100;
  private static final int OLD = 3;
  private static final long SATURATED = 1L << 63;
  private static final long REOPENED = 1L << 62;
  private static final long BUCKET_BYTES = 64;
  private static final long OCCUPIED_AND_TAG = 1L << 62 | 0x3FFFL << 48;

  private final IndexTable index;
  private final int buckets;
  private final IndexEntry[] entries = {new IndexEntry(), new IndexEntry(), new IndexEntry()};
  private final IndexFill[] fills = new IndexFill[3];
  private final long[] previous = new long[5];

  /** An index of one main bucket and some overflow buckets, which are already in its chain. */
  public TinyIndex(OffHeapArena arena, int overflowBuckets) {
    buckets = 1 + overflowBuckets;
    index = new IndexTable(arena, new IndexGeometry(1, overflowBuckets), overflowBuckets);
    Arrays.setAll(
        fills, actor -> new IndexFill(index, address -> new IllegalStateException("no room")));
  }

  /** Takes the first {@code taken} entries of the chain for other tags. */
  public final void reset(int taken) {
    MemorySegment memory = index.memory();
    memory.fill((byte) 0);
    for (int bucket = 0; bucket < buckets - 1; bucket++) {
      Words.storePlain(memory, bucket * BUCKET_BYTES + ENTRIES * Long.BYTES, bucket + 1L);
    }
    for (int other = 0; other < taken; other++) {
      index.findOrCreate(hash(OTHER + other), entries[0]);
    }
  }

  /** Removes the entry of the other tag that is first in the chain. */
  public final void removeFirst(int actor) {
    if (index.find(hash(OTHER), entries[actor]) && entries[actor].address() == 0) {
      index.remove(hash(OTHER), entries[actor]);
    }
  }

  /**
   * Saturates the chain, whose main bucket other tags must have taken, and puts record 3 of the tag
   * into the entry that it shares.
   */
  public final void saturate() {
    setMarks(SATURATED);
    index.find(hash(TAG), entries[0]);
    index.compareAndSet(entries[0], OLD);
  }

  /** Lets tags of the saturated chain have entries of their own again. */
  public final void reopen() {
    index.inheritBelow(OLD + 1);
    setMarks(SATURATED | REOPENED);
  }

  /** Adds another tag, which shares an entry without an address and inherits nothing. */
  public final void addOther() {
    index.findOrCreate(hash(OTHER + 2 * ENTRIES), entries[0]);
  }

  /** Drops the old record, and frees the tag's entry if it leads to {@code actor}'s record. */
  public final boolean dropAndRemove(int actor) {
    index.dropped(OLD + 1);
    return index.find(hash(TAG), entries[actor])
        && entries[actor].address() == actor
        && index.remove(hash(TAG), entries[actor]);
  }

  /** Like {@link #push}, but only once, and only if the tag has records. */
  public final void tryPush(int actor) {
    if (index.find(hash(TAG), entries[actor])) {
      previous[actor] = entries[actor].address();
      index.compareAndSet(entries[actor], actor);
    }
  }

  private void setMarks(long marks) {
    Words.getAndBitwiseOr(memory(), ENTRIES * Long.BYTES, marks);
  }

  /** Adds record {@code actor} (1 or 2) to the top of the tag's chain. */
  public void push(int actor) {
    push(entries[actor], TAG, actor);
  }

  /** Adds a record of another tag to the chain that the tag shares. */
  public final void pushOther() {
    push(entries[0], OTHER + TAG, OLD + 1);
  }

  private void push(IndexEntry entry, long tag, int record) {
    do {
      index.findOrCreate(hash(tag), entry);
      previous[record] = entry.address();
    } while (!index.compareAndSet(entry, record));
  }

  /** Adds another tag, and record {@code actor} (1 or 2) of the tag, as a replay does. */
  public final void fill(int actor) {
    fills[actor].add(hash(OTHER + BUCKET_BYTES + actor), actor);
    fills[actor].add(hash(TAG), actor);
    fills[actor].finish();
  }

  /** The record that the tag's entry leads to. */
  public final int newest() {
    return index.find(hash(TAG), entries[0]) ? (int) entries[0].address() : 0;
  }

  /** A hash of a tag: in an index of one bucket, a tag is a hash's first bits. */
  private static long hash(long tag) {
    return tag << (Long.SIZE - HashTag.BITS);
  }

  protected static boolean isOfTag(long word) {
    return (word & OCCUPIED_AND_TAG) == ENTRY;
  }

  protected final MemorySegment memory() {
    return index.memory();
  }

  protected final void setPrevious(int actor, long address) {
    previous[actor] = address;
  }

  /** Number of the tag's entries, including abandoned tentative ones. */
  public final int entriesOfTag() {
    int count = 0;
    for (long at = 0; at < buckets * BUCKET_BYTES; at += Long.BYTES) {
      boolean isEntry = at % BUCKET_BYTES != ENTRIES * Long.BYTES;
      if (isEntry && isOfTag(Words.loadVolatile(index.memory(), at))) {
        count++;
      }
    }
    return count;
  }

  /** Number of the tag's records that are in its chain. */
  public final int reachable() {
    int count = 0;
    if (index.find(hash(TAG), entries[0])) {
      for (long at = entries[0].address(); at != 0; at = previous[(int) at]) {
        count += at <= OLD ? 1 : 0;
      }
    }
    return count;
  }
}
