package io.fasterkv.stress.broken;

import io.fasterkv.index.IndexResize;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.stress.ResizedIndex;

/** A broken resize: it moves chunks while other threads may still be using the old table. */
public final class HastyResize extends ResizedIndex {
  public HastyResize(OffHeapArena arena) {
    super(arena);
  }

  @Override
  protected void open(IndexResize resize) {
    resize.open();
  }
}
