package io.fasterkv.index;

import io.fasterkv.memory.OffHeapArena;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The hash index of a store: holds the {@link IndexTable} that is in use, and while the index is
 * resized, the one that follows it. Phases are STABLE (a table, no resize), PREPARE (no table, a
 * resize that is not open) and RESIZING (no table, an open resize); see {@link IndexResize}.
 *
 * <p>An operation protects its epoch and then loads the table; a resize takes the table away and
 * then waits for all epochs before that. So an operation that has entered a table keeps it until it
 * leaves its epoch.
 */
public final class HashIndex {
  /** What its memory is for, as the budget calls it. */
  public static final String MEMORY = IndexTable.PURPOSE;

  private final OffHeapArena arena;
  private final IndexTable.Growth growth;
  private final ReentrantLock sizeLock = new ReentrantLock();
  private OffHeapArena tableArena;
  private volatile @Nullable IndexTable table;

  /** The table while nothing about the index or the store's version is changing. */
  private volatile @Nullable IndexTable quietTable;

  private volatile @Nullable IndexResize resize;

  /** Guarded by the {@link #sizeLock()}. */
  private @Nullable Transition unfinished;

  private volatile Runnable onScarce = () -> {};

  /** An index whose first {@code overflowUsed} overflow buckets are, or will be, in use. */
  public HashIndex(OffHeapArena arena, IndexGeometry geometry, long overflowUsed) {
    this(arena, geometry, overflowUsed, 0);
  }

  /** As the other; a table can get up to {@code moreBytes} for further overflow buckets. */
  public HashIndex(OffHeapArena arena, IndexGeometry geometry, long overflowUsed, long moreBytes) {
    this.arena = arena;
    growth =
        moreBytes == 0
            ? IndexTable.Growth.NONE
            : new IndexTable.Growth(moreBytes, () -> onScarce.run());
    tableArena = arena.part();
    table = allocate(tableArena, geometry, overflowUsed);
    quietTable = table;
  }

  /**
   * The table that every hash belongs to, or null while the index is being resized. A caller that
   * keeps what it reads here is protected, and asks again each time it has become so: until it
   * leaves its epoch, the table stays in use.
   */
  public @Nullable IndexTable stableTable() {
    return table;
  }

  /**
   * As {@link #stableTable}, but null also while the store goes from one version to the next: for
   * those who look at nothing else before they change records in place.
   */
  public @Nullable IndexTable quietTable() {
    return quietTable;
  }

  /** Begins to hide the {@link #quietTable}; the caller has the {@link #sizeLock()}. */
  public void disquiet() {
    quietTable = null;
  }

  /** Ends {@link #disquiet}. */
  public void quiet() {
    quietTable = table;
  }

  /**
   * Chooses the table in which a hash's entry is, for the methods of this class that follow. The
   * caller is protected, and enters again after it has left its epoch. False when it must leave its
   * epoch and come again.
   */
  public boolean enter(long hash, IndexEntry entry) {
    IndexTable now = table;
    if (now == null) {
      IndexResize running = resize;
      now = running == null ? null : running.tableFor(hash);
    }
    if (entry.table != now) {
      entry.table = now;
    }
    return now != null;
  }

  /**
   * The latch of the bucket that {@code hash} belongs to, for a holder of the size lock or for an
   * operation while somebody else holds that for it: the table does not change.
   */
  public BucketLatch latch(long hash) {
    return soleTable().latch(hash);
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

  /**
   * Held by whoever resizes the index, and by whoever needs it to keep its size; never by an
   * operation.
   */
  public ReentrantLock sizeLock() {
    return sizeLock;
  }

  /** The table, for a caller that has the {@link #sizeLock()} or the whole store for itself. */
  public IndexTable soleTable() {
    IndexTable now = table;
    if (now == null) {
      throw new IllegalStateException("the index is half resized: finish the resize first");
    }
    return now;
  }

  /** What there is to tell about the index: the table in use, or the one that will be. */
  public IndexTable newestTable() {
    while (true) {
      IndexTable now = table;
      if (now != null) {
        return now;
      }
      // No table and no resize: one has ended between the two loads.
      IndexResize running = resize;
      if (running != null) {
        return running.to();
      }
    }
  }

  /**
   * Begins to multiply the main buckets, or to halve them: no operation enters a table from now on.
   * The caller has the {@link #sizeLock()}; it calls {@link IndexResize#open()} when all epochs
   * before have been left, moves all chunks, and calls {@link #endResize}.
   */
  public Transition beginResize(IndexGeometry geometry, Chains chains) {
    IndexTable from = soleTable();
    OffHeapArena fresh = arena.part();
    IndexResize begun = new IndexResize(from, allocate(fresh, geometry, 0), chains);
    Transition transition = new Transition(begun, tableArena);
    unfinished = transition;
    resize = begun;
    tableArena = fresh;
    quietTable = null;
    table = null;
    return transition;
  }

  /** The resize that a failure has interrupted, or null. The caller has the {@link #sizeLock()}. */
  public @Nullable Transition unfinished() {
    return unfinished;
  }

  /** A resize under way. */
  public static final class Transition {
    private final IndexResize resize;
    private final OffHeapArena oldArena;

    private Transition(IndexResize resize, OffHeapArena oldArena) {
      this.resize = resize;
      this.oldArena = oldArena;
    }

    public IndexResize resize() {
      return resize;
    }

    /** Gives the old table's memory back; all epochs before the end have been left. */
    public void close() {
      oldArena.close();
    }
  }

  /** Restores the old table, unless the resize is open; returns whether it did. */
  public boolean cancelResize(Transition transition) {
    if (!transition.resize.cancel()) {
      return false;
    }
    OffHeapArena fresh = tableArena;
    tableArena = transition.oldArena;
    table = transition.resize.from();
    quietTable = table;
    resize = null;
    unfinished = null;
    fresh.close();
    return true;
  }

  /** Who is told, again and again, while few overflow buckets are left; must not wait. */
  public void onScarce(Runnable told) {
    onScarce = told;
  }

  /** Whether {@link #takeOver} has a use for memory. */
  public boolean canTakeOver() {
    return newestTable().extensibleBytes(BucketLayout.BYTES) > 0;
  }

  /**
   * Makes overflow buckets of memory that another arena has given up; what there is no use for goes
   * back to the budget. The caller has the {@link #sizeLock()}. Returns how much the index has got.
   */
  public long takeOver(OffHeapArena from, String purpose, long bytes) {
    IndexTable now = soleTable();
    long taken = now.extensibleBytes(bytes);
    from.giveBack(purpose, bytes - taken);
    from.move(purpose, taken, tableArena, MEMORY);
    now.extend(taken);
    return taken;
  }

  /** Makes the new table the only one: all chunks have been moved. */
  public void endResize(Transition transition) {
    table = transition.resize.to();
    quietTable = table;
    resize = null;
    unfinished = null;
  }

  private IndexTable allocate(OffHeapArena arena, IndexGeometry geometry, long used) {
    try {
      return new IndexTable(arena, geometry, used, growth);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }
}
