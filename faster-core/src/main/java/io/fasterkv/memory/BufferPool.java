package io.fasterkv.memory;

import io.fasterkv.api.StoreException.OutOfBudget;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Lends scratch buffers from a fixed number of bytes in two regions. Sessions, scans and
 * checkpoints take from the first region, and from the second only if the first has no room. Large
 * values take from the second, so that many small buffers which are kept for long do not fragment
 * the space that one large value needs. Safe for all threads; it takes a lock and is off the hot
 * path, since a session keeps its buffers.
 */
public final class BufferPool {
  /** Size of the smallest buffer. */
  public static final int MIN_BYTES = 512;

  private final MemorySegment memory;

  /** End of the region for large values, where the other begins. */
  private final long largeBytes;

  private final BuddyBlocks small;
  private final BuddyBlocks large;

  public BufferPool(OffHeapArena arena, long bytes) {
    this(arena, bytes, 0);
  }

  /**
   * @param largeBytes the part of {@code bytes} that is for large values
   */
  public BufferPool(OffHeapArena arena, long bytes, long largeBytes) {
    memory = arena.allocate("scratch buffers", bytes, OffHeapArena.PAGE_ALIGNMENT);
    this.largeBytes = largeBytes;
    large = new BuddyBlocks(largeBytes);
    small = new BuddyBlocks(bytes - largeBytes);
  }

  /** Takes a buffer of at least {@code bytes}, with arbitrary contents. */
  public MemorySegment take(int bytes) {
    MemorySegment buffer = tryTake(bytes);
    if (buffer == null) {
      throw new OutOfBudget(
          "scratch buffers are used up: bytes="
              + bytes
              + ", scratchBytes="
              + memory.byteSize()
              + "; raise scratchBytes, or have fewer scans and pending operations at a time");
    }
    return buffer;
  }

  /** Takes a buffer of at least {@code bytes}; returns null if there is no room now. */
  public synchronized @Nullable MemorySegment tryTake(int bytes) {
    StackReserve.require();
    int order = checkedOrder(bytes);
    MemorySegment buffer = fromSmall(order);
    return buffer == null ? fromLarge(order) : buffer;
  }

  /** Like {@link #tryTake}, for a large value. */
  public synchronized @Nullable MemorySegment tryTakeLarge(int bytes) {
    StackReserve.require();
    int order = checkedOrder(bytes);
    MemorySegment buffer = fromLarge(order);
    return buffer == null ? fromSmall(order) : buffer;
  }

  /** Returns a buffer, or a half or quarter of one; the caller must not use it afterwards. */
  public synchronized void give(MemorySegment buffer) {
    long block = buffer.address() - memory.address();
    int order = BuddyBlocks.order((int) buffer.byteSize());
    if (block < largeBytes) {
      large.give(block, order);
    } else {
      small.give(block - largeBytes, order);
    }
  }

  /** The largest buffer that is available whenever no other thread uses a large one. */
  public int largestBytes() {
    return (int) Math.min(largeBytes, BuddyBlocks.blockBytes(BuddyBlocks.ORDERS - 1));
  }

  /**
   * The largest size of which two buffers are available whenever no other thread uses a large one.
   */
  public int largestOfTwo() {
    return (int) Math.min(largeBytes / 2, BuddyBlocks.blockBytes(BuddyBlocks.ORDERS - 1));
  }

  /** Total bytes, lent or not. */
  public long bytes() {
    return memory.byteSize();
  }

  /** Bytes that are not lent. */
  public synchronized long freeBytes() {
    return large.freeBytes() + small.freeBytes();
  }

  /** Whether half of the pool stays free if a buffer of {@code bytes} is taken. */
  public boolean leavesHalf(int bytes) {
    return freeBytes() - bytes >= memory.byteSize() / 2;
  }

  /**
   * Whether buffers of these sizes can be lent at the same time if nothing else is lent except the
   * small buffers of the calling session.
   */
  public boolean canLend(int bytes, int moreBytes) {
    BuddyBlocks idleLarge = new BuddyBlocks(largeBytes);
    BuddyBlocks idleSmall = new BuddyBlocks(memory.byteSize() - largeBytes);
    return takes(idleSmall, idleLarge, 1)
        && takes(idleLarge, idleSmall, Math.max(bytes, moreBytes))
        && takes(idleLarge, idleSmall, Math.min(bytes, moreBytes));
  }

  private static boolean takes(BuddyBlocks one, BuddyBlocks other, int bytes) {
    int order = BuddyBlocks.order(bytes);
    return order < BuddyBlocks.ORDERS
        && (one.tryTake(order) != BuddyBlocks.NONE || other.tryTake(order) != BuddyBlocks.NONE);
  }

  private @Nullable MemorySegment fromSmall(int order) {
    return slice(small, small.tryTake(order), largeBytes, order);
  }

  private @Nullable MemorySegment fromLarge(int order) {
    return slice(large, large.tryTake(order), 0, order);
  }

  private @Nullable MemorySegment slice(BuddyBlocks from, long block, long region, int order) {
    if (block == BuddyBlocks.NONE) {
      return null;
    }
    try {
      return memory.asSlice(region + block, BuddyBlocks.blockBytes(order));
    } catch (Throwable e) {
      from.give(block, order);
      throw e;
    }
  }

  private static int checkedOrder(int bytes) {
    int order = BuddyBlocks.order(bytes);
    if (order >= BuddyBlocks.ORDERS) {
      throw new OutOfBudget(
          "a scratch buffer is too large: bytes=" + bytes + ", allowed=up to 1 GiB");
    }
    return order;
  }
}
