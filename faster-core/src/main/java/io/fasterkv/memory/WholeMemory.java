package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * All memory of the process as one segment, which the compiler knows as a constant: an access needs
 * no check of bounds and none of the segment's life. For code that stays within its own memory by
 * construction, and that runs only while it is protected against the memory's release.
 *
 * <p>It exists if the JVM allows native access; otherwise each owner's segment takes its place. An
 * address in it is a {@link #base} plus an offset, masked by {@link #PLACES}, from which the
 * compiler sees the range.
 */
public final class WholeMemory {
  /** Keeps what may be the address of a word: native memory is below 2^47. */
  public static final long PLACES = 0x7fff_ffff_fff8L;

  private static final @Nullable MemorySegment WHOLE = whole();

  private WholeMemory() {}

  /** The whole memory, or the owner's segment if there is no native access. */
  public static MemorySegment or(MemorySegment own) {
    return WHOLE == null ? own : WHOLE;
  }

  /** Where an owner's segment begins in the segment that {@link #or} returns. */
  public static long base(MemorySegment own) {
    return WHOLE == null ? 0 : own.address();
  }

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment whole() {
    return WholeMemory.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }
}
