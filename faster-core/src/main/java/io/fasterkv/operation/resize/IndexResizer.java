package io.fasterkv.operation.resize;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.index.Chains;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.HashIndex.Transition;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexResize;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.core.Engine;
import java.util.function.LongSupplier;

/**
 * Grows and halves the index while sessions continue (SIGMOD'18, appendix B). In a growth sessions
 * use the old table except for a few chunks that are being moved. In a shrinkage they move the
 * chunks that they need; this moves the rest. One resize at a time, and none during a checkpoint.
 */
public final class IndexResizer {
  /** One main bucket and one overflow bucket. */
  private static final long MIN_BYTES = 128;

  /** How many chunks of a growth operations are kept out of at a time: one wait serves them all. */
  private static final int CLOSED_CHUNKS = 8;

  private final Engine engine;
  private final Chains chains;

  public IndexResizer(Engine engine) {
    this.engine = engine;
    chains = new LogChains(engine);
  }

  /**
   * Doubles or halves the index repeatedly until it is as close to {@code bytes} as possible
   * without exceeding it; returns its new size.
   */
  public long resize(long bytes) {
    if (bytes < MIN_BYTES) {
      throw new BadConfig(
          "an index cannot be so small: bytes=" + bytes + ", allowed=" + MIN_BYTES + " and above");
    }
    HashIndex index = engine.index();
    index.sizeLock().lock();
    try {
      finish();
      while (bytes() * 2 <= bytes) {
        step(geometry().doubled());
      }
      while (bytes() > bytes) {
        step(geometry().halved());
      }
      return bytes();
    } finally {
      index.sizeLock().unlock();
    }
  }

  /** Doubles or halves the index; returns its new size. */
  public long resize(boolean grow) {
    HashIndex index = engine.index();
    index.sizeLock().lock();
    try {
      finish();
      step(grow ? geometry().doubled() : geometry().halved());
      return bytes();
    } finally {
      index.sizeLock().unlock();
    }
  }

  /**
   * Splits each main bucket into as many as {@code bytes} for the old and new tables together
   * allow; returns false if these are not even two.
   *
   * @param bytes returns the bytes for both tables; called when the size can no longer change
   */
  public boolean refine(LongSupplier bytes) {
    HashIndex index = engine.index();
    index.sizeLock().lock();
    try {
      finish();
      IndexGeometry refined = refined(bytes.getAsLong());
      boolean isLarger = refined.mainBuckets() > geometry().mainBuckets();
      if (isLarger) {
        step(refined);
      }
      return isLarger;
    } finally {
      index.sizeLock().unlock();
    }
  }

  private IndexGeometry refined(long bytes) {
    IndexGeometry now = geometry();
    long room = bytes - now.bytes();
    IndexGeometry refined = now.refined(room);
    // So that each part of a bucket has as many overflow buckets as the whole may have now.
    long parts = Math.min(refined.mainBuckets() / now.mainBuckets(), room / now.bytes());
    return refined.divided(Math.max(1, parts) * now.mainBuckets());
  }

  private IndexGeometry geometry() {
    return engine.index().soleTable().geometry();
  }

  private long bytes() {
    return geometry().bytes();
  }

  /**
   * Completes a resize that a failure has interrupted, or cancels it if it was not open yet. The
   * caller must have the size lock.
   */
  public void finish() {
    Transition transition = engine.index().unfinished();
    if (transition != null && !cancel(transition)) {
      try (EpochUser user = engine.epochs().register()) {
        complete(transition, user);
      }
    }
  }

  private void step(IndexGeometry geometry) {
    try (EpochUser user = engine.epochs().register()) {
      Transition transition = engine.index().beginResize(geometry, chains);
      try {
        open(transition);
      } catch (Throwable e) {
        // The action that opens it may have run or may still run; whichever comes first wins.
        cancel(transition);
        throw e;
      }
      complete(transition, user);
    }
  }

  /** Lets operations move chunks. */
  private void open(Transition transition) {
    if (!reserveForks(transition)) {
      throw new OutOfBudget(
          "the log's memory has no room for the forks of a smaller index: "
              + engine.log()
              + "; delete keys and compact(), or raise logMemoryBytes; the index is as it was");
    }
    awaitEpochs(transition.resize()::open);
  }

  /** Restores the old table, unless the resize is open; returns whether it did. */
  private boolean cancel(Transition transition) {
    boolean isCancelled = engine.index().cancelResize(transition);
    if (isCancelled) {
      engine.log().room().releaseForks();
    }
    return isCancelled;
  }

  /**
   * Moves what is left, and releases the old table. After a failure in any step, {@link #finish}
   * repeats them all.
   */
  private void complete(Transition transition, EpochUser user) {
    moveAll(transition.resize(), user);
    engine.log().room().releaseForks();
    engine.index().endResize(transition);
    awaitEpochs(() -> {});
    engine.index().releaseOld(transition);
  }

  /** Reserves all the room for forks before anything is moved. */
  private boolean reserveForks(Transition transition) {
    IndexResize resize = transition.resize();
    return !resize.needsLog()
        || engine
            .log()
            .room()
            .reserveForks(
                () -> {
                  // From now on no entry changes.
                  awaitEpochs(() -> {});
                  return resize.forksAtMost(false);
                },
                () -> resize.forksAtMost(true));
  }

  private void moveAll(IndexResize resize, EpochUser user) {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "a chunk of the index to be moved");
    for (int first = 0; first < resize.chunks(); first += CLOSED_CHUNKS) {
      int end = Math.min(first + CLOSED_CHUNKS, resize.chunks());
      if (!resize.needsLog()) {
        vacate(resize, first, end);
      }
      for (int chunk = first; chunk < end; chunk++) {
        while (!move(resize, chunk, user)) {
          if (resize.needsLog()) {
            engine.log().assist();
          }
          wait.pause();
        }
        wait.end();
      }
    }
  }

  /** Waits for all operations in some chunks of the old table, and refuses others meanwhile. */
  private void vacate(IndexResize resize, int first, int end) {
    // Otherwise the stack may end between closing the chunks and reopening them.
    StackReserve.require();
    long closed = resize.close(first, end);
    try {
      awaitEpochs(() -> resize.free(first, end, closed));
    } catch (Throwable e) {
      // The action may have run or may still run; whichever comes first wins.
      resize.reopen(first, end, closed);
      throw e;
    }
  }

  private static boolean move(IndexResize resize, int chunk, EpochUser user) {
    user.protect();
    try {
      return resize.move(chunk);
    } finally {
      user.unprotect();
    }
  }

  private void awaitEpochs(Runnable action) {
    engine.epochs().await(action, () -> "all to leave the index as it was");
  }
}
