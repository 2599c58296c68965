package io.fasterkv.memory;

import java.lang.System.Logger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Owns the off-heap memory of one store in a shared arena, which is closed once. Nearly all memory
 * lives as long as the store; other memory has an arena of its own, a {@link #part()}. Allocated
 * memory is zero, is counted against the {@link MemoryBudget}, and lives until {@link #close()}.
 * The caller must ensure that no thread uses it afterwards: a later access through its segment
 * throws {@link IllegalStateException}, and one through {@link WholeMemory} crashes.
 */
public final class OffHeapArena implements AutoCloseable {
  /** The largest alignment needed: a memory page, which is also a device's block. */
  public static final long PAGE_ALIGNMENT = 4096;

  private final MemoryBudget budget;
  private final ConcurrentMap<String, AtomicLong> takenBytes = new ConcurrentHashMap<>();
  private final Set<OffHeapArena> parts = ConcurrentHashMap.newKeySet();

  /** Set by {@link #close}, which may fail. */
  private volatile boolean isClosing;

  /** Start of each block of memory that is committed on first touch. */
  private final Set<Long> untouched = ConcurrentHashMap.newKeySet();

  /** Start of each block of memory whose parts can be released. */
  private final Set<Long> resizable = ConcurrentHashMap.newKeySet();

  /** Null for the JVM's ordinary memory. */
  private final @Nullable HugePages huge;

  private final boolean preallocates;
  private final @Nullable OffHeapArena whole;

  /** Created last, since nothing may fail after that. */
  private final Arena arena = Arena.ofShared();

  /** Creates an arena that uses the JVM's ordinary memory. */
  public OffHeapArena(MemoryBudget budget) {
    this(budget, null, false, null);
  }

  /**
   * @param hugePages whether to request huge pages and memory that is committed on first touch
   * @param preallocates whether to touch all of it at once
   * @param logger receives what the system does not support
   */
  public OffHeapArena(MemoryBudget budget, boolean hugePages, boolean preallocates, Logger logger) {
    this(budget, hugePages ? new HugePages(logger) : null, preallocates, null);
  }

  private OffHeapArena(
      MemoryBudget budget,
      @Nullable HugePages huge,
      boolean preallocates,
      @Nullable OffHeapArena whole) {
    this.budget = budget;
    this.huge = huge;
    this.preallocates = preallocates;
    this.whole = whole;
  }

  /** Allocates zeroed bytes; if the budget is used up, the exception names their purpose. */
  public MemorySegment allocate(String purpose, long bytes, long alignment) {
    take(purpose, bytes);
    MemorySegment mapped = bytes >= HugePages.BYTES ? tryMap(bytes, 0) : null;
    return mapped == null
        ? NativeHeap.allocate(arena, bytes, alignment)
        : touchedAsConfigured(mapped, bytes);
  }

  /**
   * Like {@link #allocate}, for memory that may shrink or grow later: parts of it can be {@link
   * #release}d, and up to {@code moreBytes} after the first {@code bytes} can be used after {@link
   * #tryTake}. If the system does not support that, or huge pages are not wanted, it is allocated
   * as by {@link #allocate}, without room to grow.
   */
  public MemorySegment allocateResizable(String purpose, long bytes, long moreBytes) {
    take(purpose, bytes);
    MemorySegment mapped = tryMap(bytes, moreBytes);
    if (mapped == null) {
      return NativeHeap.allocate(arena, bytes, PAGE_ALIGNMENT);
    }
    boolean isResizable = Mapping.release(mapped.asSlice(0, Mapping.wholePages(mapped.byteSize())));
    if (isResizable) {
      resizable.add(mapped.address());
    }
    return touchedAsConfigured(isResizable ? mapped : mapped.asSlice(0, bytes), bytes);
  }

  private @Nullable MemorySegment tryMap(long bytes, long moreBytes) {
    return huge == null ? null : huge.tryAllocate(arena, bytes, moreBytes);
  }

  private MemorySegment touchedAsConfigured(MemorySegment mapped, long bytes) {
    if (preallocates) {
      mapped.asSlice(0, bytes).fill((byte) 0);
    } else if (bytes >= HugePages.BYTES) {
      untouched.add(mapped.address());
    }
    return mapped;
  }

  /** Whether parts of this size of the allocated memory can be released. */
  public boolean isResizable(MemorySegment memory, long pieceBytes) {
    return resizable.contains(memory.address()) && Mapping.isOfPages(pieceBytes);
  }

  /** Makes the kernel use pages of the usual size for memory touched from now on. */
  public void useSmallPages(MemorySegment memory) {
    // A kernel without huge pages refuses the advice, and does not need it.
    Mapping.adviseSmallPages(memory);
  }

  /**
   * Releases a part of resizable memory to the system: it takes no memory until it is touched
   * again, and is zero then. This does not change the budget.
   */
  public void release(MemorySegment part) {
    if (!Mapping.release(part)) {
      if (huge != null) {
        huge.notReleased(part.byteSize());
      }
      part.fill((byte) 0);
    }
  }

  /** Takes bytes of the budget for resizable memory that grows, if they are available. */
  public boolean tryTake(String purpose, long bytes) {
    AtomicLong sum = taken(purpose);
    boolean isTaken = budget.tryTake(purpose, bytes);
    sum.addAndGet(isTaken ? bytes : 0);
    return isTaken;
  }

  /** Returns bytes to the budget that were taken and released. */
  public void release(String purpose, long bytes) {
    taken(purpose).addAndGet(-bytes);
    budget.release(purpose, bytes);
  }

  /** Raises the budget's limit by bytes that are taken here at once. */
  public void raiseLimit(String purpose, long bytes) {
    AtomicLong sum = taken(purpose);
    budget.raiseLimit(purpose, bytes);
    sum.addAndGet(bytes);
  }

  /** Lowers the budget's limit by bytes that were taken here and released. */
  public void lowerLimit(String purpose, long bytes) {
    taken(purpose).addAndGet(-bytes);
    budget.lowerLimit(purpose, bytes);
  }

  /**
   * Creates the prefaulter of a circular buffer of this arena; null if none is needed, because its
   * memory does not come from the kernel or has already been touched.
   *
   * @param bytes how many bytes it touches in all
   */
  public @Nullable PagePrefaulter prefaulter(MemorySegment buffer, long bytes) {
    return huge != null && untouched.contains(buffer.address())
        ? huge.prefaulter(buffer, bytes)
        : null;
  }

  private void take(String purpose, long bytes) {
    AtomicLong sum = taken(purpose);
    budget.take(purpose, bytes);
    sum.addAndGet(bytes);
  }

  /** Called before anything is taken, so that taking cannot fail halfway for lack of heap. */
  private AtomicLong taken(String purpose) {
    AtomicLong sum = takenBytes.get(purpose);
    return sum == null ? takenBytes.computeIfAbsent(purpose, name -> new AtomicLong()) : sum;
  }

  /**
   * Creates an arena on the same budget that can be closed before this one and then returns its
   * bytes.
   */
  public OffHeapArena part() {
    closeAgain();
    OffHeapArena part = new OffHeapArena(budget, huge, preallocates, this);
    parts.add(part);
    return part;
  }

  public MemoryBudget budget() {
    return budget;
  }

  /** Closes the parts whose close has failed. */
  private void closeAgain() {
    for (OffHeapArena part : parts) {
      if (part.isClosing) {
        part.close();
      }
    }
  }

  /**
   * Frees all memory, even if a step fails. A second call repeats the steps that have failed. The
   * parent arena repeats them too, when it makes another part or closes. One thread closes at a
   * time.
   */
  @Override
  public synchronized void close() {
    isClosing = true;
    try {
      takenBytes.forEach((purpose, bytes) -> budget.release(purpose, bytes.getAndSet(0)));
    } finally {
      try {
        if (arena.scope().isAlive()) {
          arena.close();
        }
      } finally {
        closeParts(parts.iterator());
      }
    }
    if (whole != null) {
      whole.parts.remove(this);
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
