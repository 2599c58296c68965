package io.fasterkv.device.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.fasterkv.memory.SystemCalls;
import io.fasterkv.memory.Words;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * An io_uring of the Linux kernel (5.6 and later). It consists of two rings of memory shared with
 * the kernel, one for requests and one for completions, and a system call that submits and waits.
 *
 * <pre>
 *   requests:     head (kernel) .. tail (ours)    entries of 64 bytes, in their own memory
 *   completions:  head (ours) .. tail (kernel)    entries of 16 bytes: our 8 bytes, and the result
 * </pre>
 *
 * <p>Each index has one writer. A tail is stored with release after the entries before it were
 * written, and loaded with acquire before they are read. A head is treated likewise after an entry
 * was read, so that the entry is not overwritten too early. A weaker order would let one side see
 * an index without its entry. On our side, one thread at a time.
 */
class Ring implements AutoCloseable {
  /** Kernel memory of a ring for up to 64 requests: two pages. */
  static final long BYTES = 2 * 4096;

  static final int EINTR = 4;
  static final int EAGAIN = 11;
  static final int EBUSY = 16;
  static final int EINVAL = 22;

  private static final long SETUP = 425;
  private static final long ENTER = 426;
  private static final long GET_EVENTS = 1;
  private static final byte READ = 22;

  /**
   * Completions wait for our next call instead of interrupting us; a flag says that there are some.
   */
  private static final int COOPERATIVE = 1 << 8 | 1 << 9;

  /** One map for both rings, no completion dropped, and plain reads: 5.6 and later. */
  private static final int FEATURES = 1 | 1 << 1 | 1 << 3;

  private static final int COMPLETIONS_WAIT = 2 | 4;
  private static final long REQUESTS_OFFSET = 0x1000_0000L;
  private static final int REQUEST_BYTES = 64;
  private static final int COMPLETION_BYTES = 16;

  private final SystemCalls system = new SystemCalls();
  private final int descriptor;
  private final MemorySegment rings;
  private final MemorySegment requests;
  private final int requestMask;
  private final int completionMask;
  private final long requestHead;
  private final long requestTail;
  private final long requestFlags;
  private final long completionHead;
  private final long completionTail;
  private final long completions;

  /** The tag of the completion that {@link #next()} found. */
  private long tag;

  private int result;

  /**
   * @param entries how many requests may be in progress, a power of two
   * @throws IOException if the kernel does not support such rings, or does not allow them
   */
  Ring(int entries) throws IOException {
    try {
      MemorySegment parameters = system.allocate(120);
      descriptor = setUp(entries, parameters);
      requestHead = at(parameters, 40);
      requestTail = at(parameters, 44);
      requestFlags = at(parameters, 56);
      completionHead = at(parameters, 80);
      completionTail = at(parameters, 84);
      completions = at(parameters, 100);
      int slots = parameters.get(JAVA_INT, 0);
      long order = at(parameters, 64);
      long end =
          Math.max(
              order + 4L * slots,
              completions + (long) COMPLETION_BYTES * parameters.get(JAVA_INT, 4));
      rings = map(system, descriptor, 0, end);
      requests = map(system, descriptor, REQUESTS_OFFSET, (long) REQUEST_BYTES * slots);
      requestMask = rings.get(JAVA_INT, at(parameters, 48));
      completionMask = rings.get(JAVA_INT, at(parameters, 88));
      for (int slot = 0; slot < slots; slot++) {
        rings.set(JAVA_INT, order + 4L * slot, slot);
      }
    } catch (Throwable e) {
      system.close();
      throw e;
    }
  }

  /** Adds a read to the ring, which must have room; {@link #enter} submits it. */
  void read(int file, long position, MemorySegment target, long tag) {
    int tail = rings.get(JAVA_INT, requestTail);
    long request = (long) REQUEST_BYTES * (tail & requestMask);
    requests.asSlice(request, REQUEST_BYTES).fill((byte) 0);
    requests.set(JAVA_BYTE, request, READ);
    requests.set(JAVA_INT, request + 4, file);
    requests.set(JAVA_LONG, request + 8, position);
    requests.set(JAVA_LONG, request + 16, target.address());
    requests.set(JAVA_INT, request + 24, Math.toIntExact(target.byteSize()));
    requests.set(JAVA_LONG, request + 32, tag);
    Words.storeReleaseInt(rings, requestTail, tail + 1);
  }

  /** How many requests the kernel has not accepted yet. */
  int waiting() {
    return rings.get(JAVA_INT, requestTail) - Words.loadAcquireInt(rings, requestHead);
  }

  /** The tag of a request that the kernel has not accepted; index 0 is the first one. */
  long waitingTag(int index) {
    int slot = Words.loadAcquireInt(rings, requestHead) + index;
    return requests.get(JAVA_LONG, (long) REQUEST_BYTES * (slot & requestMask) + 32);
  }

  /** Removes the requests that the kernel has not accepted. */
  void withdraw() {
    int head = Words.loadAcquireInt(rings, requestHead);
    Words.storeReleaseInt(rings, requestTail, head);
  }

  /**
   * Submits the waiting requests, and waits until there are {@code wanted} completions. Returns how
   * many requests the kernel accepted, or a negative error number.
   */
  int enter(int wanted) {
    long flags = wanted > 0 || isCompletionDelayed() ? GET_EVENTS : 0;
    return (int) system.call(ENTER, descriptor, waiting(), wanted, flags);
  }

  /** Whether the kernel has completions that it adds to the ring only when it is entered. */
  boolean isCompletionDelayed() {
    return (Words.loadAcquireInt(rings, requestFlags) & COMPLETIONS_WAIT) != 0;
  }

  /** Moves to the next completion; returns false if there is none. */
  boolean next() {
    int head = rings.get(JAVA_INT, completionHead);
    if (head == Words.loadAcquireInt(rings, completionTail)) {
      return false;
    }
    long completion = completions + (long) COMPLETION_BYTES * (head & completionMask);
    tag = rings.get(JAVA_LONG, completion);
    result = rings.get(JAVA_INT, completion + 8);
    Words.storeReleaseInt(rings, completionHead, head + 1);
    return true;
  }

  /** The tag of the completed request. */
  long tag() {
    return tag;
  }

  /** How many bytes were read, or a negative error number. */
  int result() {
    return result;
  }

  /** Closes the ring. No request may be in progress. */
  @Override
  public void close() {
    system.close(descriptor);
    system.close();
  }

  private int setUp(int entries, MemorySegment parameters) throws IOException {
    parameters.set(JAVA_INT, 8, COOPERATIVE);
    long result = system.call(SETUP, entries, parameters.address(), 0, 0);
    if (result == -EINVAL) {
      // Kernels before 5.19 do not know these flags.
      parameters.fill((byte) 0);
      result = system.call(SETUP, entries, parameters.address(), 0, 0);
    }
    if (result < 0) {
      throw new IOException("the kernel refuses an io_uring: errno=" + -result);
    }
    int features = parameters.get(JAVA_INT, 20);
    if ((features & FEATURES) != FEATURES) {
      system.close((int) result);
      throw new IOException("the kernel's io_uring is too old: features=" + features);
    }
    return (int) result;
  }

  /** Maps the memory of a ring; closes the ring if that fails. */
  private static MemorySegment map(SystemCalls system, int descriptor, long offset, long bytes)
      throws IOException {
    try {
      return system.map(descriptor, offset, bytes);
    } catch (IOException e) {
      system.close(descriptor);
      throw e;
    }
  }

  private static long at(MemorySegment parameters, long field) {
    return Integer.toUnsignedLong(parameters.get(JAVA_INT, field));
  }
}
