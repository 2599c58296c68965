package io.fasterkv.memory;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
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

  private static final System.Logger LOG = System.getLogger("io.fasterkv");

  private final MemoryBudget budget;
  private final ConcurrentMap<String, Long> takenBytes = new ConcurrentHashMap<>();
  private final Set<OffHeapArena> parts = ConcurrentHashMap.newKeySet();

  /** Where memory begins that is there when it is touched. */
  private final Set<Long> untouched = ConcurrentHashMap.newKeySet();

  /** Where memory begins of which parts can be given back. */
  private final Set<Long> resizable = ConcurrentHashMap.newKeySet();

  private final boolean hugePages;
  private final boolean preallocates;
  private final @Nullable OffHeapArena whole;

  /** Created last, since nothing may fail after that. */
  private final Arena arena = Arena.ofShared();

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
    take(purpose, bytes);
    boolean isLarge = hugePages && bytes >= HugePages.BYTES;
    MemorySegment mapped = isLarge ? HugePages.tryAllocate(arena, bytes, 0) : null;
    return mapped == null
        ? NativeHeap.allocate(arena, bytes, alignment)
        : touchedAsConfigured(mapped, bytes);
  }

  /**
   * As {@link #allocate}, of memory that may become less or more later: parts of it can be {@link
   * #release}d, and up to {@code moreBytes} that lie behind the first {@code bytes} can be {@link
   * #move}d there. Where the system does not let that be, or huge pages are not wanted, it is as
   * {@link #allocate} gives it, without more behind it.
   */
  public MemorySegment allocateResizable(String purpose, long bytes, long moreBytes) {
    take(purpose, bytes);
    MemorySegment mapped = hugePages ? HugePages.tryAllocate(arena, bytes, moreBytes) : null;
    if (mapped == null) {
      return NativeHeap.allocate(arena, bytes, PAGE_ALIGNMENT);
    }
    boolean isResizable = Mapping.release(mapped.asSlice(0, Mapping.wholePages(mapped.byteSize())));
    if (isResizable) {
      resizable.add(mapped.address());
    }
    return touchedAsConfigured(isResizable ? mapped : mapped.asSlice(0, bytes), bytes);
  }

  private MemorySegment touchedAsConfigured(MemorySegment mapped, long bytes) {
    if (preallocates) {
      mapped.asSlice(0, bytes).fill((byte) 0);
    } else if (bytes >= HugePages.BYTES) {
      untouched.add(mapped.address());
    }
    return mapped;
  }

  /** Whether pieces of so many bytes of what was allocated can be given back. */
  public boolean isResizable(MemorySegment memory, long pieceBytes) {
    return resizable.contains(memory.address()) && Mapping.isOfPages(pieceBytes);
  }

  /** Has the kernel use pages of its usual size for what is touched from now on. */
  public void useSmallPages(MemorySegment memory) {
    if (!Mapping.adviseSmallPages(memory)) {
      LOG.log(Level.DEBUG, "the kernel knows no huge pages");
    }
  }

  /**
   * Gives a part of a resizable piece back to the system: it takes no memory until it is touched
   * again, and is zero then. The budget is not told: see {@link #move}.
   */
  public void release(MemorySegment part) {
    if (!Mapping.release(part)) {
      // What is locked in memory stays there.
      LOG.log(Level.WARNING, "the system takes no memory back: bytes={0}", part.byteSize());
      part.fill((byte) 0);
    }
  }

  /** Lets another arena have bytes of the budget that were taken here and were given up. */
  public void move(String purpose, long bytes, OffHeapArena to, String newPurpose) {
    takenBytes.merge(purpose, -bytes, Long::sum);
    to.takenBytes.merge(newPurpose, bytes, Long::sum);
    budget.move(purpose, newPurpose, bytes);
  }

  /** Puts bytes back into the budget that were taken and were given up. */
  public void giveBack(String purpose, long bytes) {
    takenBytes.merge(purpose, -bytes, Long::sum);
    budget.giveBack(purpose, bytes);
  }

  /**
   * What touches a circular buffer of this arena before it is needed; null if that is done, as it
   * is where memory is not asked from the kernel, or where all of it is touched at once.
   */
  public @Nullable TouchAhead touchAhead(MemorySegment buffer) {
    return untouched.contains(buffer.address()) ? new TouchAhead(buffer) : null;
  }

  private void take(String purpose, long bytes) {
    budget.take(purpose, bytes);
    takenBytes.merge(purpose, bytes, Long::sum);
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

  /** Frees all memory, even if a step fails. */
  @Override
  public void close() {
    try (arena) {
      if (whole != null) {
        whole.parts.remove(this);
      }
      takenBytes.forEach(budget::giveBack);
      takenBytes.clear();
    } finally {
      closeParts(parts.iterator());
    }
  }

  private static void closeParts(Iterator<OffHeapArena> left) {
    while (left.hasNext()) {
      try {
        left.next().close();
      } catch (Throwable e) {
        closeParts(left);
        throw e;
      }
    }
  }
}
