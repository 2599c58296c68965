package io.fasterkv.stress;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.index.Chains;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.HashIndex.Transition;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexResize;
import io.fasterkv.memory.OffHeapArena;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An index of one bucket that is doubled while threads add records to one chain. The detector
 * counts the records that can be reached afterwards.
 */
public class ResizedIndex implements Chains {
  private static final long HASH = 3;
  private static final int ACTORS = 3;

  /** Records that an actor pushes: enough to run into each phase of a resize. */
  public static final int RECORDS = 8;

  private final Epochs epochs = new Epochs(ACTORS + 1, ResizedIndex::fail);
  private final HashIndex index;
  private final List<IndexEntry> entries =
      List.of(new IndexEntry(), new IndexEntry(), new IndexEntry());
  private final List<EpochUser> users =
      List.of(epochs.register(), epochs.register(), epochs.register());
  private final long[] previous = new long[ACTORS * RECORDS + 1];
  private final AtomicInteger moves = new AtomicInteger();

  public ResizedIndex(OffHeapArena arena) {
    this(arena, 1);
  }

  /**
   * @param tagBase number of buckets from which tags count: with 1, tags tell the parts of a
   *     bucket, with 2, each chain is asked for
   */
  public ResizedIndex(OffHeapArena arena, long tagBase) {
    index = new HashIndex(arena, new IndexGeometry(1, 0, tagBase), 0);
  }

  /** Adds an actor's records to the top of the chain, one after another, as operations do. */
  public final void push(int actor) {
    for (int record = actor * RECORDS + 1; record <= (actor + 1) * RECORDS; record++) {
      while (!tryPush(actor, record)) {
        epochs.drain();
        Thread.onSpinWait();
      }
    }
  }

  private boolean tryPush(int actor, int record) {
    EpochUser user = users.get(actor);
    IndexEntry entry = entries.get(actor);
    user.protect();
    try {
      if (!index.enter(HASH, entry)) {
        return false;
      }
      index.findOrCreate(HASH, entry);
      previous[record] = entry.address();
      return index.compareAndSet(entry, record);
    } finally {
      user.unprotect();
    }
  }

  /** Doubles the index. */
  public final void grow(int actor) {
    end(begin(), actor);
  }

  /** Begins to double the index; threads still use all chunks in the old table. */
  public final Transition begin() {
    return begin(true);
  }

  /** Begins to double the index, and frees all chunks. */
  public final Transition beginAndVacate() {
    Transition transition = begin();
    vacate(transition.resize());
    return transition;
  }

  private Transition begin(boolean grow) {
    IndexGeometry geometry = index.soleTable().geometry();
    Transition transition = index.beginResize(grow ? geometry.doubled() : geometry.halved(), this);
    whenAllHaveLeft(transition.resize()::open);
    return transition;
  }

  /** Closes all chunks, and frees them once no thread uses them in the old table. */
  private void vacate(IndexResize resize) {
    long closed = resize.close(0, resize.chunks());
    whenVacant(() -> resize.free(0, resize.chunks(), closed));
  }

  /** Runs an action when all threads have left the closed chunks. */
  protected void whenVacant(Runnable action) {
    whenAllHaveLeft(action);
  }

  /** Moves the remaining chunks, and ends the resize. */
  public final void end(Transition transition, int actor) {
    if (!transition.resize().needsLog()) {
      vacate(transition.resize());
    }
    EpochUser user = users.get(actor);
    user.protect();
    try {
      for (int chunk = 0; chunk < transition.resize().chunks(); chunk++) {
        while (!transition.resize().move(chunk)) {
          user.refresh();
        }
      }
    } finally {
      user.unprotect();
    }
    index.endResize(transition);
    whenAllHaveLeft(() -> index.releaseOld(transition));
  }

  private void whenAllHaveLeft(Runnable action) {
    AtomicBoolean isOver = new AtomicBoolean();
    epochs.bump(() -> {
      action.run();
      isOver.set(true);
    });
    while (!isOver.get()) {
      epochs.drain();
      Thread.onSpinWait();
    }
  }

  /** Number of records in the chain. */
  public final int reachable() {
    int count = 0;
    IndexEntry entry = entries.getFirst();
    if (index.enter(HASH, entry) && index.find(HASH, entry)) {
      for (long at = entry.address(); at != 0; at = previous[(int) at]) {
        count++;
      }
    }
    return count;
  }

  /** Number of times that the chain was moved since the last reset. */
  public final int moves() {
    return moves.get();
  }

  /** Empties the index and shrinks it to one bucket. */
  public final ResizedIndex reset() {
    IndexEntry entry = entries.getFirst();
    if (index.soleTable().mainBuckets() > 1) {
      end(begin(false), 0);
    }
    if (index.enter(HASH, entry) && index.find(HASH, entry)) {
      index.remove(HASH, entry);
    }
    moves.set(0);
    return this;
  }

  @Override
  public long tailAddress() {
    return previous.length;
  }

  @Override
  public long first(long address, Part part) {
    if (!part.contains(HASH)) {
      return 0;
    }
    moves.incrementAndGet();
    return address;
  }

  @Override
  public long records(long address, Part part, RecordSink sink) {
    for (long at = address; at != 0; at = previous[(int) at]) {
      sink.record(HASH, at);
    }
    moves.incrementAndGet();
    return 0;
  }

  @Override
  public long join(long left, long right, long mainBuckets) {
    return Math.max(left, right);
  }

  @Override
  public long joinByTag(long others, long ofTag, long base, long tag) {
    throw new IllegalStateException("one tag does not saturate a bucket");
  }

  private static void fail(Throwable failure) {
    throw new AssertionError(failure);
  }
}
