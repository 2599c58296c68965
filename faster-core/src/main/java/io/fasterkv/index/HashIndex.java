package io.fasterkv.index;

import io.fasterkv.memory.OffHeapArena;
import org.jspecify.annotations.Nullable;

/** The hash index of a store: holds the {@link IndexTable} that is in use. */
public final class HashIndex {
  private volatile IndexTable table;

  /** An index whose first {@code overflowUsed} overflow buckets are, or will be, in use. */
  public HashIndex(OffHeapArena arena, IndexGeometry geometry, long overflowUsed) {
    table = new IndexTable(arena, geometry, overflowUsed);
  }

  /**
   * The table that every hash belongs to, or null while the index is being resized. A caller that
   * keeps what it reads here is protected, and asks again each time it has become so: until it
   * leaves its epoch, the table stays in use.
   */
  public @Nullable IndexTable stableTable() {
    return table;
  }

  /** The table, for a caller that keeps the index from being resized. */
  public IndexTable soleTable() {
    return table;
  }

  /**
   * Chooses the table in which a hash's entry is, for the methods of this class that follow. The
   * caller is protected, and enters again after it has left its epoch. False when it must leave its
   * epoch and come again.
   */
  public boolean enter(long hash, IndexEntry entry) {
    IndexTable now = table;
    if (entry.table != now) {
      entry.table = now;
    }
    return true;
  }

  /** Finds the entry of a hash that has been entered; false when there is none. */
  public boolean find(long hash, IndexEntry entry) {
    return entry.table().find(hash, entry);
  }

  /** Finds the entry of a hash that has been entered, or makes one whose address is 0. */
  public void findOrCreate(long hash, IndexEntry entry) {
    entry.table().findOrCreate(hash, entry);
  }

  /** Puts {@code address} in the place of what {@code entry} has read; false if it has changed. */
  public boolean compareAndSet(IndexEntry entry, long address) {
    return entry.table().compareAndSet(entry, address);
  }

  /** Frees an entry whose chain holds nothing any more; false if it has changed. */
  public boolean remove(IndexEntry entry) {
    return entry.table().remove(entry);
  }
}
