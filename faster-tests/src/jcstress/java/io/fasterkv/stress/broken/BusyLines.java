package io.fasterkv.stress.broken;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Cache lines that two actors write in turn. A core's store to such a line waits until the other
 * core has released it. Later stores of that core wait too, invisible to others, while its loads
 * continue. This delays a store by some hundred nanoseconds instead of a few.
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
