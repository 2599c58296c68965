package io.fasterkv.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Owns off-heap memory of one store: a shared arena, closed once. Nearly all lives as long as the
 * store; what does not has an arena of its own, a {@link #part()}. What is allocated is zero,
 * counted against the {@link MemoryBudget}, and lives until {@link #close()}; the caller makes sure
 * that nobody uses it any more by then (an access after that is an {@link IllegalStateException},
 * never a crash).
 */
public final class OffHeapArena implements AutoCloseable {
  /** The largest alignment anyone needs: a memory page, which is also a device's block. */
  public static final long PAGE_ALIGNMENT = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemoryBudget budget;
  private final ConcurrentMap<String, Long> takenBytes = new ConcurrentHashMap<>();
  private final Set<OffHeapArena> parts = ConcurrentHashMap.newKeySet();

  /** Where memory begins that is there when it is touched. */
  private final Set<Long> untouched = ConcurrentHashMap.newKeySet();

  private final boolean hugePages;
  private final boolean preallocates;
  private final @Nullable OffHeapArena whole;

  /** An arena of the JVM's ordinary memory. */
  public OffHeapArena(MemoryBudget budget) {
    this(budget, false, false);
  }

  /**
   * @param hugePages whether to ask the system for huge pages, and get memory when it is touched
   * @param preallocates whether to touch it all at once
   */
  public OffHeapArena(MemoryBudget budget, boolean hugePages, boolean preallocates) {
    this(budget, hugePages, preallocates, null);
  }

  private OffHeapArena(
      MemoryBudget budget, boolean hugePages, boolean preallocates, @Nullable OffHeapArena whole) {
    this.budget = budget;
    this.hugePages = hugePages;
    this.preallocates = preallocates;
    this.whole = whole;
  }

  /** Allocates zeroed bytes, or fails with what they were for when the budget is used up. */
  public MemorySegment allocate(String purpose, long bytes, long alignment) {
    budget.take(purpose, bytes);
    takenBytes.merge(purpose, bytes, Long::sum);
    if (hugePages && bytes >= HugePages.BYTES) {
      MemorySegment mapped = HugePages.tryAllocate(arena, bytes);
      if (mapped != null) {
        if (preallocates) {
          return mapped.fill((byte) 0);
        }
        untouched.add(mapped.address());
        return mapped;
      }
    }
    return NativeHeap.allocate(arena, bytes, alignment);
  }

  /**
   * What touches a circular buffer of this arena before it is needed; null if that is done, as it
   * is where memory is not asked from the kernel, or where all of it is touched at once.
   */
  public @Nullable TouchAhead touchAhead(MemorySegment buffer) {
    return untouched.contains(buffer.address()) ? new TouchAhead(buffer) : null;
  }

  /**
   * An arena on the same budget that can be closed by itself, before this one, and gives its bytes
   * back then.
   */
  public OffHeapArena part() {
    OffHeapArena part = new OffHeapArena(budget, hugePages, preallocates, this);
    parts.add(part);
    return part;
  }

  public MemoryBudget budget() {
    return budget;
  }

  @Override
  public void close() {
    for (OffHeapArena part : parts) {
      part.close();
    }
    if (whole != null) {
      whole.parts.remove(this);
    }
    arena.close();
    takenBytes.forEach(budget::giveBack);
    takenBytes.clear();
  }
}
