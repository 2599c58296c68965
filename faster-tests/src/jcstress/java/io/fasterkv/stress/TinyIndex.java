package io.fasterkv.stress;

import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexTable;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * An index of one chain, all entries but the first few taken by other tags, and two threads that
 * each put a record on top of one tag's chain. The detector counts what can be reached afterwards.
 */
public class TinyIndex {
  /** The tag that the threads want; others are above it. */
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
  private final long[] previous = new long[3];

  /** An index of one main bucket and a number of overflow buckets, all in its chain already. */
  public TinyIndex(OffHeapArena arena, int overflowBuckets) {
    buckets = 1 + overflowBuckets;
    index = new IndexTable(arena, new IndexGeometry(1, overflowBuckets), overflowBuckets);
  }

  /** Takes the first {@code taken} entries of the chain for other tags. */
  public final void reset(int taken) {
    MemorySegment memory = index.memory();
    memory.fill((byte) 0);
    for (int bucket = 0; bucket < buckets - 1; bucket++) {
      Words.storePlain(memory, bucket * BUCKET_BYTES + ENTRIES * Long.BYTES, bucket + 1L);
    }
    for (int other = 0; other < taken; other++) {
      index.findOrCreate(OTHER + other, entries[0]);
    }
  }

  /** Removes the entry of the other tag that has the first place in the chain. */
  public final void removeFirst(int actor) {
    if (index.find(OTHER, entries[actor]) && entries[actor].address() == 0) {
      index.remove(entries[actor]);
    }
  }

  /** Puts record {@code actor} (1 or 2) on top of the tag's chain. */
  public void push(int actor) {
    IndexEntry entry = entries[actor];
    do {
      index.findOrCreate(TAG, entry);
      previous[actor] = entry.address();
    } while (!index.compareAndSet(entry, actor));
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

  /** How many entries the tag has, claims that were forgotten included. */
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

  /** How many of the two records are in the tag's chain. */
  public final int reachable() {
    int count = 0;
    if (index.find(TAG, entries[0])) {
      for (long at = entries[0].address(); at != 0; at = previous[(int) at]) {
        count++;
      }
    }
    return count;
  }
}
