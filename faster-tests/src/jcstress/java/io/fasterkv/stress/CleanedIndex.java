package io.fasterkv.stress;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexCleaner;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * An index of one chain whose records were dropped from the log. Its entries are freed while two
 * threads add records of one tag. The detector counts the records that can be reached afterwards.
 */
public class CleanedIndex {
  /** Records below this address were dropped. */
  protected static final long DROPPED = 100;

  /** Slots for entries in the bucket. */
  protected static final int ENTRIES = 7;

  /** Two hashes with different tags. */
  private static final long HASH = 3L << 60;

  private static final long OTHER_HASH = 5L << 60;
  private static final int ACTORS = 2;

  private final Epochs epochs =
      new Epochs(
          ACTORS + 2,
          failure -> {
            throw new AssertionError(failure);
          });
  private final HashIndex index;

  /** A new one each time, since a cleaner skips what it has freed before. */
  private IndexCleaner cleaner;

  private final List<EpochUser> users = List.of(epochs.register(), epochs.register());
  private final List<IndexEntry> entries = List.of(new IndexEntry(), new IndexEntry());
  private final long[] previous = new long[ACTORS];

  public CleanedIndex(OffHeapArena arena) {
    index = new HashIndex(arena, new IndexGeometry(1, 0), 0);
    cleaner = new IndexCleaner(index, epochs);
  }

  /** Another tag and the threads' tag each lead to a record that was dropped. */
  public final CleanedIndex reset() {
    memory().fill((byte) 0);
    cleaner = new IndexCleaner(index, epochs);
    IndexEntry entry = entries.getFirst();
    for (long hash : new long[] {OTHER_HASH, HASH}) {
      index.enter(hash, entry);
      index.findOrCreate(hash, entry);
      index.compareAndSet(entry, DROPPED - 1);
    }
    return this;
  }

  /** Adds an actor's record at the top of the chain. */
  public final void push(int actor) {
    EpochUser user = users.get(actor);
    IndexEntry entry = entries.get(actor);
    user.protect();
    index.enter(HASH, entry);
    do {
      index.findOrCreate(HASH, entry);
      previous[actor] = entry.address();
    } while (!index.compareAndSet(entry, DROPPED + actor));
    user.unprotect();
  }

  /** Frees the entries whose chains were dropped. */
  public void clean() {
    cleaner.clean(DROPPED);
  }

  protected final MemorySegment memory() {
    return index.soleTable().memory();
  }

  protected static long address(long word) {
    return word & (1L << 48) - 1;
  }

  /** Number of the two records that are in the tag's chain. */
  public final int reachable() {
    int count = 0;
    IndexEntry entry = entries.getFirst();
    index.enter(HASH, entry);
    if (index.find(HASH, entry)) {
      for (long at = entry.address(); at >= DROPPED; at = previous[(int) (at - DROPPED)]) {
        count++;
      }
    }
    return count;
  }

  /** Number of entries in the bucket. */
  public final int entries() {
    int count = 0;
    for (int entry = 0; entry < ENTRIES; entry++) {
      count += Words.loadVolatile(memory(), (long) entry * Long.BYTES) == 0 ? 0 : 1;
    }
    return count;
  }
}
