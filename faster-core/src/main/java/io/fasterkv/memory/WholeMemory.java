package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * All memory of the process as one segment, which the compiler knows as a constant: an access needs
 * no check of bounds, and none whether the segment is still open. For code that reads and writes
 * only its own memory by construction, and only while it is protected against the memory's release.
 * An address outside would crash the JVM, or change other memory.
 *
 * <p>It exists if the JVM allows native access; otherwise each owner's segment takes its place. An
 * address in it is a {@link #base} plus an offset, masked by {@link #PLACES}, from which the
 * compiler sees the range.
 */
public final class WholeMemory {
  /**
   * Keeps what may be the address of a word. Linux gives a process no memory above 2^48 unless it
   * asks for it.
   */
  public static final long PLACES = 0xffff_ffff_fff8L;

  private static final @Nullable MemorySegment WHOLE = whole();

  private WholeMemory() {}

  /** The whole memory, or the owner's segment if there is no native access. */
  public static MemorySegment or(MemorySegment own) {
    return WHOLE == null ? own : WHOLE;
  }

  /**
   * Where an owner's segment begins in the segment that {@link #or} returns.
   *
   * @throws IllegalStateException if {@link #PLACES} would change its addresses
   */
  public static long base(MemorySegment own) {
    if (WHOLE == null) {
      return 0;
    }
    long last = own.address() + own.byteSize() - 1;
    if ((own.address() & ~PLACES) != 0 || last >>> 48 != 0) {
      throw new IllegalStateException(
          "memory is not aligned to words, or above 2^48: address="
              + own.address()
              + ", bytes="
              + own.byteSize());
    }
    return own.address();
  }

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment whole() {
    return WholeMemory.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }
}
