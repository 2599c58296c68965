package io.fasterkv.index;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.StackReserve;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The hash index of a store. It holds the {@link IndexTable} in use and, during a resize, its
 * successor. Its phases are STABLE (a table, no resize), PREPARE (no table, a resize that is not
 * open) and RESIZING (no table, an open resize); see {@link IndexResize}.
 *
 * <p>An operation protects its epoch and then loads the table. A resize removes the table and then
 * waits for all earlier epochs. So an operation that has entered a table can use it until it leaves
 * its epoch.
 */
public final class HashIndex {
  /** The name of its memory in the memory budget. */
  public static final String MEMORY = IndexTable.PURPOSE;

  private final OffHeapArena arena;
  private final IndexTable.Growth growth;
  private final ReentrantLock sizeLock = new ReentrantLock();
  private OffHeapArena tableArena;
  private volatile @Nullable IndexTable table;

  /** The table while neither the index nor the store's version is changing. */
  private volatile @Nullable IndexTable quietTable;

  private volatile @Nullable IndexResize resize;

  /** Guarded by the {@link #sizeLock()}. */
  private @Nullable Transition unfinished;

  private volatile Runnable onOutgrown = () -> {};
  private volatile Runnable onShared = () -> {};
  private volatile boolean isClosed;

  /** Creates an index whose first {@code overflowUsed} overflow buckets are, or will be, in use. */
  public HashIndex(OffHeapArena arena, IndexGeometry geometry, long overflowUsed) {
    this(arena, geometry, overflowUsed, 0);
  }

  /** Creates an index whose table can get up to {@code moreBytes} for more overflow buckets. */
  public HashIndex(OffHeapArena arena, IndexGeometry geometry, long overflowUsed, long moreBytes) {
    this.arena = arena;
    growth = new IndexTable.Growth(moreBytes, () -> onOutgrown.run(), () -> onShared.run());
    tableArena = arena.part();
    try {
      table = new IndexTable(tableArena, geometry, overflowUsed, growth);
    } catch (RuntimeException | Error e) {
      tableArena.close();
      throw e;
    }
    quietTable = table;
  }

  /**
   * The table for all hashes, or null while the index is being resized and when it is closed. The
   * table stays in use until the caller leaves its epoch, so the caller must be protected and must
   * ask again each time it protects itself.
   */
  public @Nullable IndexTable stableTable() {
    return isClosed ? null : table;
  }

  /**
   * Like {@link #stableTable}, but also null during a version shift: for callers that check nothing
   * else before they change records in place.
   */
  public @Nullable IndexTable quietTable() {
    return quietTable;
  }

  /**
   * Whether a resize keeps operations out, or makes them move chunks: not while a growth is open,
   * which refuses operations only in a few chunks at a time.
   */
  public boolean isHeldUp() {
    if (table != null) {
      return false;
    }
    IndexResize running = resize;
    return running == null || running.needsLog() || !running.isOpen();
  }

  /** Begins to hide the {@link #quietTable}; the caller must have the {@link #sizeLock()}. */
  public void hideQuietTable() {
    quietTable = null;
  }

  /** Ends {@link #hideQuietTable}. */
  public void showQuietTable() {
    show(table);
  }

  /**
   * Selects the table that has a hash's entry, for the following methods of this class. The caller
   * must be protected, and must enter again after it has left its epoch. Returns false if it must
   * leave its epoch and retry.
   *
   * @throws IllegalStateException if the index is closed
   */
  public boolean enter(long hash, IndexEntry entry) {
    if (isClosed) {
      throw new IllegalStateException("the store is closed");
    }
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
   * The latch of the bucket of {@code hash}. The table must not change: the caller holds the size
   * lock, or another thread holds it for the caller.
   */
  public BucketLatch latch(long hash) {
    return soleTable().latch(hash);
  }

  /** Finds the entry of a hash that was entered; returns false if there is none. */
  public boolean find(long hash, IndexEntry entry) {
    return entry.table().find(hash, entry);
  }

  /** Finds the entry of a hash that was entered, or creates one whose address is 0. */
  public void findOrCreate(long hash, IndexEntry entry) {
    entry.table().findOrCreate(hash, entry);
  }

  /**
   * Replaces the word that {@code entry} has read by {@code address}; returns false if it has
   * changed.
   */
  public boolean compareAndSet(IndexEntry entry, long address) {
    return entry.table().compareAndSet(entry, address);
  }

  /**
   * Whether an entry still has the word that was read. After a {@link #compareAndSet} that threw,
   * this tells whether the swap took place: the stack may overflow before or after it.
   */
  public boolean isUnchanged(IndexEntry entry) {
    return entry.table().isUnchanged(entry);
  }

  /**
   * Frees the entry of a hash, whose chain has ended; returns false if it has changed or must stay.
   */
  public boolean remove(long hash, IndexEntry entry) {
    return entry.table().remove(hash, entry);
  }

  /**
   * Held while the index is resized, and by threads that need its size to stay; never by an
   * operation.
   */
  public ReentrantLock sizeLock() {
    return sizeLock;
  }

  /** The table, for a caller that has the {@link #sizeLock()} or exclusive use of the store. */
  public IndexTable soleTable() {
    IndexTable now = table;
    if (now == null) {
      throw new IllegalStateException("the index is half resized: finish the resize first");
    }
    return now;
  }

  /** The table in use, or during a resize the new one; for statistics. */
  public IndexTable newestTable() {
    return ofTables(table -> table, IndexResize::to);
  }

  /** Number of entries; during a resize, those that are moved and those that are not. */
  public long entries() {
    return ofTables(
        IndexTable::entries, running -> running.from().entries() + running.to().entries());
  }

  private <T> T ofTables(Function<IndexTable, T> ofOne, Function<IndexResize, T> ofTwo) {
    while (true) {
      IndexTable now = table;
      if (now != null) {
        return ofOne.apply(now);
      }
      // No table and no resize: a resize has ended between the two loads.
      IndexResize running = resize;
      if (running != null) {
        return ofTwo.apply(running);
      }
    }
  }

  /**
   * Begins to multiply or halve the main buckets: from now on no operation enters a table. The
   * caller must have the {@link #sizeLock()}. It calls {@link IndexResize#open()} after all earlier
   * epochs have ended, moves all chunks, and calls {@link #endResize}.
   */
  public Transition beginResize(IndexGeometry geometry, Chains chains) {
    StackReserve.require();
    IndexTable from = soleTable();
    OffHeapArena fresh = arena.part();
    Transition transition;
    try {
      IndexTable to = new IndexTable(fresh, geometry, 0, growth);
      transition = new Transition(new IndexResize(from, to, chains), tableArena);
    } catch (RuntimeException | Error e) {
      fresh.close();
      throw e;
    }
    unfinished = transition;
    resize = transition.resize;
    tableArena = fresh;
    quietTable = null;
    table = null;
    return transition;
  }

  /**
   * The resize that a failure has interrupted, or null. It may be complete except for the memory of
   * the old table. The caller must have the {@link #sizeLock()}.
   */
  public @Nullable Transition unfinished() {
    return unfinished;
  }

  /** A resize in progress. */
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
  }

  /** Restores the old table unless the resize is open; returns whether it did. */
  public boolean cancelResize(Transition transition) {
    if (!transition.resize.cancel()) {
      return false;
    }
    transition.resize.from().overflow().couple(null, 0);
    OffHeapArena fresh = tableArena;
    tableArena = transition.oldArena;
    table = transition.resize.from();
    show(table);
    resize = null;
    unfinished = null;
    fresh.close();
    return true;
  }

  /**
   * Sets a callback that is called repeatedly while chains have outgrown the main buckets; it must
   * not block. Called before the index is used.
   */
  public void onOutgrown(Runnable listener) {
    onOutgrown = listener;
  }

  /**
   * Sets a callback that is called by each operation whose tag shares an entry of a chain that had
   * no room for another one; it must not block. Called before the index is used.
   */
  public void onShared(Runnable listener) {
    onShared = listener;
  }

  /** Bytes that {@link #addOverflowBuckets} can use. */
  public long takeableBytes() {
    return newestTable().extensibleBytes(Long.MAX_VALUE);
  }

  /**
   * Makes overflow buckets of up to so many free bytes of the budget. The caller must have the
   * {@link #sizeLock()}. Returns how many bytes the index got; 0 if the budget has fewer.
   */
  public long addOverflowBuckets(long bytes) {
    IndexTable now = soleTable();
    long taken = now.extensibleBytes(bytes);
    if (!tableArena.tryTake(MEMORY, taken)) {
      return 0;
    }
    now.extend(taken);
    return taken;
  }

  /** Whether chains have outgrown the main buckets. */
  public boolean isOutgrown() {
    return newestTable().isOutgrown();
  }

  /** Whether tags share entries, in more than a few chains that had no room and no split since. */
  public boolean isShared() {
    return newestTable().isShared();
  }

  /** Whether few overflow buckets are left. */
  public boolean isScarce() {
    return newestTable().isOverflowScarce();
  }

  /** Whether very few overflow buckets are left. */
  public boolean isNearlyExhausted() {
    return newestTable().isOverflowNearlyGone();
  }

  /**
   * From now on nobody receives a table to read in {@link io.fasterkv.memory.WholeMemory}. The
   * memory may be freed when all epochs before have ended; what is called after that throws.
   */
  public synchronized void close() {
    isClosed = true;
    quietTable = null;
  }

  private synchronized void show(@Nullable IndexTable quiet) {
    if (!isClosed) {
      quietTable = quiet;
    }
  }

  /** Makes the new table the only one after all chunks have been moved. May be called again. */
  public void endResize(Transition transition) {
    table = transition.resize.to();
    show(table);
    resize = null;
  }

  /**
   * Releases the old table's memory; all epochs before {@link #endResize} must have ended. May be
   * called again if it fails.
   */
  public void releaseOld(Transition transition) {
    transition.oldArena.close();
    unfinished = null;
  }
}
