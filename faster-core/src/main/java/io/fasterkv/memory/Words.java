package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The 64-bit words that threads share in off-heap memory. The memory order is in the method's name;
 * {@code loadPlain} and {@code storePlain} are for words that one thread owns at the time, or that
 * do not change any more. Offsets are in bytes and multiples of 8.
 */
public final class Words {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  /** A check of the alignment would be repeated by every access; plain accesses do not need it. */
  private static final VarHandle PLAIN = ValueLayout.JAVA_LONG_UNALIGNED.varHandle();

  private static final VarHandle HALF_WORD = ValueLayout.JAVA_INT.varHandle();

  private Words() {}

  /** The smallest multiple of 8 that is at least {@code bytes}. */
  public static long align(long bytes) {
    return (bytes + 7) & -Long.BYTES;
  }

  public static long loadPlain(MemorySegment memory, long offset) {
    return (long) PLAIN.get(memory, offset);
  }

  public static void storePlain(MemorySegment memory, long offset, long value) {
    PLAIN.set(memory, offset, value);
  }

  public static long loadAcquire(MemorySegment memory, long offset) {
    return (long) WORD.getAcquire(memory, offset);
  }

  public static void storeRelease(MemorySegment memory, long offset, long value) {
    WORD.setRelease(memory, offset, value);
  }

  public static long loadVolatile(MemorySegment memory, long offset) {
    return (long) WORD.getVolatile(memory, offset);
  }

  public static void storeVolatile(MemorySegment memory, long offset, long value) {
    WORD.setVolatile(memory, offset, value);
  }

  public static boolean compareAndSet(
      MemorySegment memory, long offset, long expected, long replacement) {
    return WORD.compareAndSet(memory, offset, expected, replacement);
  }

  /** Sets bits atomically and returns the word as it was before. */
  public static long getAndBitwiseOr(MemorySegment memory, long offset, long bits) {
    return (long) WORD.getAndBitwiseOr(memory, offset, bits);
  }

  /** A 32-bit word, at a multiple of 4. */
  public static int loadAcquireInt(MemorySegment memory, long offset) {
    return (int) HALF_WORD.getAcquire(memory, offset);
  }

  /** A 32-bit word, at a multiple of 4. */
  public static void storeReleaseInt(MemorySegment memory, long offset, int value) {
    HALF_WORD.setRelease(memory, offset, value);
  }

  /** Keeps only {@code bits} atomically and returns the word as it was before. */
  public static long getAndBitwiseAnd(MemorySegment memory, long offset, long bits) {
    return (long) WORD.getAndBitwiseAnd(memory, offset, bits);
  }

  /** Orders all loads before it with all loads and stores after it. */
  public static void acquireFence() {
    VarHandle.acquireFence();
  }

  /** Orders everything before it with everything after it. */
  public static void fullFence() {
    VarHandle.fullFence();
  }

  /** Orders all stores before it with all stores after it. */
  public static void storeStoreFence() {
    VarHandle.storeStoreFence();
  }
}
