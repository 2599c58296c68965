package io.fasterkv.stress;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A pointer to memory. After the pointer is removed, the action of a bump "frees" (poisons) the
 * memory. Detects an epoch announcement that comes too late.
 */
public final class GuardedCell {
  public static final String GONE = "pointer gone";
  public static final String ALIVE = "alive";
  public static final String FREED = "freed under the reader";

  private static final long LIVE = 1;
  private static final long POISON = 2;
  private static final int READER_STEPS = 512;

  private final Epochs epochs;
  private EpochUser user;
  private final MemorySegment memory;
  private final AtomicBoolean isReachable = new AtomicBoolean();

  public GuardedCell(OffHeapArena arena) {
    epochs =
        new Epochs(
            2,
            failure -> {
              throw new AssertionError("the action failed", failure);
            });
    user = epochs.register();
    memory = arena.allocate("cell", 128, 128);
    reset();
  }

  public GuardedCell reset() {
    Words.storeVolatile(memory, 0, LIVE);
    isReachable.set(true);
    return this;
  }

  /** Replaces the user with one whose thread has ended. */
  public GuardedCell orphan() {
    user.close();
    try {
      Thread.startVirtualThread(() -> user = epochs.register()).join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return this;
  }

  public Epochs epochs() {
    return epochs;
  }

  public EpochUser user() {
    return user;
  }

  /**
   * What a reader sees after it has announced its epoch. Pauses between the pointer and the memory.
   */
  public String read() {
    if (!isReachable.getAcquire()) {
      return GONE;
    }
    for (int step = 0; step < READER_STEPS; step++) {
      if (Words.loadAcquire(memory, 0) != LIVE) {
        return FREED;
      }
    }
    return ALIVE;
  }

  /** Removes the pointer; afterwards no other thread reaches the memory. */
  public void hide() {
    isReachable.set(false);
  }

  /** Runs once no thread that may have seen the pointer is left. */
  public void free() {
    Words.storeRelease(memory, 0, POISON);
  }

  public boolean isFreed() {
    return Words.loadAcquire(memory, 0) == POISON;
  }
}
