package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.stress.TinyIndex;

/** A broken index of one bucket: a new entry is visible at once, without a second check. */
public final class SinglePhaseIndex extends TinyIndex {
  private static final long ADDRESS_MASK = (1L << 48) - 1;

  public SinglePhaseIndex(OffHeapArena arena) {
    super(arena, 0);
  }

  @Override
  public void push(int actor) {
    while (true) {
      long at = findOrCreate();
      long word = Words.loadVolatile(memory(), at);
      setPrevious(actor, word & ADDRESS_MASK);
      if (isOfTag(word) && Words.compareAndSet(memory(), at, word, ENTRY | actor)) {
        return;
      }
    }
  }

  private long findOrCreate() {
    while (true) {
      long free = -1;
      for (long at = 0; at < ENTRIES * Long.BYTES; at += Long.BYTES) {
        long word = Words.loadVolatile(memory(), at);
        if (isOfTag(word)) {
          return at;
        }
        if (word == 0 && free < 0) {
          free = at;
        }
      }
      if (Words.compareAndSet(memory(), free, 0, ENTRY)) {
        return free;
      }
    }
  }
}
