package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/** A broken upsert: it uses only release stores, even at the end of its epoch. */
public final class UnfencedUpsert {
  private static final long PROTECTED = 1;
  private static final long LINE = 128;

  private final MemorySegment memory;
  private final BusyLines busy;

  public UnfencedUpsert(OffHeapArena arena) {
    memory = arena.allocate("value, slot, word elsewhere", 3 * LINE, LINE);
    busy = new BusyLines(arena);
  }

  public UnfencedUpsert reset() {
    Words.storeVolatile(memory, 0, 0);
    Words.storeVolatile(memory, 2 * LINE, 0);
    return this;
  }

  /** Sets the value and reads the word outside the store. */
  public long upsertAndLook() {
    Words.storeVolatile(memory, LINE, PROTECTED);
    busy.store();
    Words.storeRelease(memory, 0, 1);
    Words.storeRelease(memory, LINE, 0);
    return Words.loadAcquire(memory, 2 * LINE);
  }

  /** Sets the word outside the store and reads the value. */
  public long setAndRead() {
    Words.storeVolatile(memory, 2 * LINE, 1);
    long value = Words.loadVolatile(memory, 0);
    busy.store();
    return value;
  }
}
