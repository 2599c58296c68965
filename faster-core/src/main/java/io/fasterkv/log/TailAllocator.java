package io.fasterkv.log;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Allocates at the log's tail (SIGMOD'18, section 5.1 and algorithm 1).
 *
 * <p>Page number and offset share one word, so that one fetch-and-add allocates:
 *
 * <pre>
 *   63 .............. pageBits+16   pageBits+15 .................. 0
 *   page number                     offset in the page, may overshoot
 * </pre>
 *
 * <p>A thread whose offset passes the page's end has allocated nothing, and neither have later
 * threads. One of them turns the page by a compare-and-set of the whole word, which exactly one
 * thread wins. The offset has 16 spare bits: each thread checks it before adding, so there is at
 * most one overshoot per thread, and 65,536 of the largest records fit. The rest of the old page
 * stays zero.
 */
final class TailAllocator {
  /** The record does not fit the tail page: the caller must turn the page and retry. */
  static final long PAGE_FULL = -1;

  private static final int SPARE_BITS = 16;
  private static final int AT = 128 / Long.BYTES;

  private final int pageBits;
  private final int offsetBits;
  private final long offsetMask;

  /**
   * In a cache line of its own: every append writes it, while the marks beside it are read all the
   * time.
   */
  private final AtomicLongArray tail = new AtomicLongArray(2 * AT + 1);

  /** Starts at an address, at most the start of the last possible page. */
  TailAllocator(int pageBits, long startAddress) {
    this.pageBits = pageBits;
    offsetBits = pageBits + SPARE_BITS;
    offsetMask = (1L << offsetBits) - 1;
    long page = startAddress >>> pageBits;
    boolean isAtEnd = page == AddressSpace.lastPage(pageBits);
    // The tail as if the page before had just become full.
    tail.setRelease(
        AT,
        isAtEnd
            ? word(page - 1, 1L << pageBits)
            : word(page, startAddress & ((1L << pageBits) - 1)));
  }

  /** Allocates bytes; returns their address or {@link #PAGE_FULL}. */
  long allocate(long bytes) {
    long pageBytes = 1L << pageBits;
    if (offset(tail.getAcquire(AT)) + bytes > pageBytes) {
      return PAGE_FULL;
    }
    long before = tail.getAndAdd(AT, bytes);
    return offset(before) + bytes <= pageBytes
        ? address(before >>> offsetBits, offset(before))
        : PAGE_FULL;
  }

  /**
   * Allocates up to the end of the page, at most {@code most} and at least {@code least} bytes;
   * returns the address or {@link #PAGE_FULL}. Uses a compare-and-set: a fetch-and-add that comes
   * too late would cost other threads the rest of the page.
   */
  long allocateUpTo(long least, long most) {
    while (true) {
      long word = tail.get(AT);
      long room = (1L << pageBits) - offset(word);
      if (room < least) {
        return PAGE_FULL;
      }
      if (tail.compareAndSet(AT, word, word + Math.min(room, most))) {
        return address(word >>> offsetBits, offset(word));
      }
    }
  }

  /**
   * Like {@link #allocateUpTo}, but only while {@code page} is the tail page, for a caller that may
   * not use the next page.
   */
  long allocateOn(long page, long least, long most) {
    while (true) {
      long word = tail.get(AT);
      long room = (1L << pageBits) - offset(word);
      if (word >>> offsetBits != page || room < least) {
        return PAGE_FULL;
      }
      if (tail.compareAndSet(AT, word, word + Math.min(room, most))) {
        return address(page, offset(word));
      }
    }
  }

  /** The page that new records go to. */
  long page() {
    return tail.getAcquire(AT) >>> offsetBits;
  }

  /** The first address that is not allocated. */
  long address() {
    long word = tail.getAcquire(AT);
    return address(word >>> offsetBits, Math.min(offset(word), 1L << pageBits));
  }

  /** Moves from {@code page} to the next; true for the one thread that did it. */
  boolean turn(long page) {
    for (long word = tail.get(AT); word >>> offsetBits == page; word = tail.get(AT)) {
      if (tail.compareAndSet(AT, word, word(page + 1, 0))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Moves the tail to the next multiple of {@code unit}, a power of two. Returns that address plus
   * the size of the gap below it, which is less than the unit; the caller must fill the gap.
   */
  long align(long unit) {
    while (true) {
      long word = tail.get(AT);
      long offset = Math.min(offset(word), 1L << pageBits);
      long aligned = (offset + unit - 1) & -unit;
      long page = word >>> offsetBits;
      if (aligned == offset || tail.compareAndSet(AT, word, word(page, aligned))) {
        return address(page, 0) + aligned + (aligned - offset);
      }
    }
  }

  private long offset(long word) {
    return word & offsetMask;
  }

  private long word(long page, long offset) {
    return page << offsetBits | offset;
  }

  private long address(long page, long offset) {
    return (page << pageBits) + offset;
  }
}
