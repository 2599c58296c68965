package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Lines that two actors write by turns. A core that stores to them has to wait until the other has
 * given them up, and whatever it stores next waits behind, unseen, while its loads go on: a store
 * is late by some hundred nanoseconds then instead of a few.
 */
final class BusyLines {
  private static final long LINES = 16;
  private static final long LINE = 128;

  private final MemorySegment memory;

  BusyLines(OffHeapArena arena) {
    memory = arena.allocate("busy lines", LINES * LINE, LINE);
  }

  void store() {
    for (long line = 0; line < LINES; line++) {
      Words.storeRelease(memory, line * LINE, line);
    }
  }
}
