package io.fasterkv.operation;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.index.Chains;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.HashIndex.Transition;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.index.IndexResize;
import io.fasterkv.record.ForkRecord;

/**
 * Grows and halves the index beside any number of sessions (SIGMOD'18, appendix B). Sessions move
 * the chunks that they need; this moves the rest. One at a time, and not beside a checkpoint.
 */
public final class IndexResizer {
  /** One main bucket and one for overflow. */
  private static final long MIN_BYTES = 128;

  private final Engine engine;
  private final Chains chains;

  public IndexResizer(Engine engine) {
    this.engine = engine;
    chains = new LogChains(engine);
  }

  /**
   * Doubles or halves the index as often as it takes to come as near to {@code bytes} as can be
   * without being larger, and returns how many bytes it has then.
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

  /** Doubles or halves the index and returns how many bytes it has then. */
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
   * Cuts each main bucket into as many as {@code bytes} for the old table and the new one allow, if
   * that is two at least.
   */
  public void refine(long bytes) {
    HashIndex index = engine.index();
    index.sizeLock().lock();
    try {
      finish();
      if (canRefine(bytes)) {
        step(refined(bytes));
      }
    } finally {
      index.sizeLock().unlock();
    }
  }

  /** Whether {@link #refine} does anything, for a caller that knows of no resize. */
  public boolean canRefine(long bytes) {
    return refined(bytes).mainBuckets() > geometry().mainBuckets();
  }

  private IndexGeometry refined(long bytes) {
    IndexGeometry now = geometry();
    long room = bytes - now.bytes();
    IndexGeometry refined = IndexGeometry.refined(now.mainBuckets(), room);
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
   * Finishes a resize that a failure has interrupted, if there is one. The caller has the size
   * lock.
   */
  public void finish() {
    Transition transition = engine.index().unfinished();
    if (transition != null) {
      try (EpochUser user = engine.epochs().register()) {
        complete(transition, user);
      }
    }
  }

  private void step(IndexGeometry geometry) {
    try (EpochUser user = engine.epochs().register()) {
      Transition transition = engine.index().beginResize(geometry, chains);
      open(transition);
      complete(transition, user);
    }
  }

  /** Lets operations move chunks; if that fails, the index is unchanged. */
  private void open(Transition transition) {
    try {
      if (!reserveForks(transition)) {
        throw new OutOfBudget(
            "the log's memory has no room for the forks of a smaller index: "
                + engine.log()
                + "; delete keys and compact(), or raise logMemoryBytes; the index is as it was");
      }
      awaitEpochs(transition.resize()::open);
    } catch (Throwable e) {
      // The action may have run or may still run: the first of the two wins.
      if (engine.index().cancelResize(transition)) {
        engine.log().room().releaseForks();
      }
      throw e;
    }
  }

  /** May be called again after a failure. */
  private void complete(Transition transition, EpochUser user) {
    moveAll(transition.resize(), user);
    engine.log().room().releaseForks();
    engine.index().endResize(transition);
    awaitEpochs(() -> {});
    transition.close();
  }

  /**
   * Without a device, forks must find room although the log is full: whoever would make it needs
   * the index. So all of it is set aside before anything is moved.
   */
  private boolean reserveForks(Transition transition) {
    IndexResize resize = transition.resize();
    if (!engine.log().isInMemory() || !resize.needsLog()) {
      return true;
    }
    // Nobody changes an entry from now on.
    awaitEpochs(() -> {});
    return reserve(resize.forksAtMost(false)) || reserve(resize.forksAtMost(true));
  }

  private boolean reserve(long forks) {
    return engine.log().room().reserveForks(forks * ForkRecord.BYTES);
  }

  private void moveAll(IndexResize resize, EpochUser user) {
    EpochWait wait = new EpochWait(engine.epochs(), () -> "a chunk of the index to be moved");
    for (int chunk = 0; chunk < resize.chunks(); chunk++) {
      while (!move(resize, chunk, user)) {
        if (resize.needsLog()) {
          engine.log().assist();
        }
        wait.pause();
      }
      wait.end();
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
