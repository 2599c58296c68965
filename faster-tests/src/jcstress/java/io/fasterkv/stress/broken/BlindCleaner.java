package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.stress.CleanedIndex;

/** An index with broken cleaning: it empties an entry without checking whether it has changed. */
public final class BlindCleaner extends CleanedIndex {
  public BlindCleaner(OffHeapArena arena) {
    super(arena);
  }

  @Override
  public void clean() {
    for (int entry = 0; entry < ENTRIES; entry++) {
      long at = (long) entry * Long.BYTES;
      long word = Words.loadVolatile(memory(), at);
      if (word != 0 && address(word) < DROPPED) {
        Words.storeVolatile(memory(), at, 0);
      }
    }
  }
}
