package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Owns all off-heap memory of one store: one shared arena, closed once. What is allocated is zero,
 * counted against the {@link MemoryBudget}, and lives until {@link #close()}; the caller makes sure
 * that nobody uses it any more by then (an access after that is an {@link IllegalStateException},
 * never a crash).
 */
public final class OffHeapArena implements AutoCloseable {
  /** The largest alignment anyone needs: a memory page, which is also a device's block. */
  public static final long PAGE_ALIGNMENT = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemoryBudget budget;

  public OffHeapArena(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Allocates zeroed bytes, or fails with what they were for when the budget is used up. */
  public MemorySegment allocate(String purpose, long bytes, long alignment) {
    budget.take(purpose, bytes);
    return arena.allocate(bytes, alignment);
  }

  /** Zeroed bytes outside any budget, given back when nobody refers to them any more. */
  public static MemorySegment collected(long bytes, long alignment) {
    return Arena.ofAuto().allocate(bytes, alignment);
  }

  public MemoryBudget budget() {
    return budget;
  }

  @Override
  public void close() {
    arena.close();
  }
}
