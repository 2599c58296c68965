package io.fasterkv.stress.broken;

import io.fasterkv.index.IndexResize;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.stress.ResizedIndex;

/** A resize that is broken: it moves chunks while others may still be in the old table. */
public final class HastyResize extends ResizedIndex {
  public HastyResize(OffHeapArena arena) {
    super(arena);
  }

  @Override
  protected void open(IndexResize resize) {
    resize.open();
  }
}
