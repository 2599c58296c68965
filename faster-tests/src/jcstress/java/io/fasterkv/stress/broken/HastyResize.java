package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.stress.ResizedIndex;

/**
 * A broken resize: it moves chunks while other threads may still be using them in the old table.
 */
public final class HastyResize extends ResizedIndex {
  public HastyResize(OffHeapArena arena) {
    super(arena);
  }

  @Override
  protected void whenVacant(Runnable action) {
    action.run();
  }
}
