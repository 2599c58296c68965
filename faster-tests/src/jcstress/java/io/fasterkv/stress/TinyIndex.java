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
  private static final long BUCKET_BYTES = 64;
  private static final long OCCUPIED_AND_TAG = 1L << 62 | 0x3FFFL << 48;

  private final IndexTable index;
  private final int buckets;
  private final IndexEntry[] entries = {new IndexEntry(), new IndexEntry(), new IndexEntry()};
  private final IndexFill[] fills = new IndexFill[3];
  private final long[] previous = new long[3];

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
      index.remove(entries[actor]);
    }
  }

  /** Adds record {@code actor} (1 or 2) to the top of the tag's chain. */
  public void push(int actor) {
    IndexEntry entry = entries[actor];
    do {
      index.findOrCreate(hash(TAG), entry);
      previous[actor] = entry.address();
    } while (!index.compareAndSet(entry, actor));
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

  /** Number of the two records that are in the tag's chain. */
  public final int reachable() {
    int count = 0;
    if (index.find(hash(TAG), entries[0])) {
      for (long at = entries[0].address(); at != 0; at = previous[(int) at]) {
        count++;
      }
    }
    return count;
  }
}
