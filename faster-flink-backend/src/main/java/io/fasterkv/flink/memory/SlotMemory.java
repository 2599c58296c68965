package io.fasterkv.flink.memory;

import java.io.IOException;

/**
 * The part of a slot's managed memory that is meant for state; all stores of the slot share it. The
 * leases never add up to more than the pool. Safe for use by all threads.
 *
 * <p>The number of stores is not known in advance. If each took the same share of the free memory,
 * ten would use up half a gigabyte. So the n-th store takes at most an n-th part of it: the first
 * two get a half and a quarter, the n-th 1/(2n(n-1)), and a slot holds three times as many stores.
 */
final class SlotMemory implements AutoCloseable {
  private static final long GRANULE = 1 << 10;

  private final long bytes;
  private long leased;
  private int stores;

  SlotMemory(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Leases {@code share} of the free memory, or less if there are several stores, but at least
   * {@code minimum}; in whole KiB.
   *
   * @throws IOException if less than the minimum is free; the message says what to change
   */
  synchronized long lease(double share, long minimum) throws IOException {
    long free = bytes - leased;
    if (free < minimum) {
      throw tooLittle(free, minimum);
    }
    double part = Math.min(share, 1.0 / (stores + 1));
    long wanted = Math.max(minimum, (long) (free * part));
    long granted = Math.max(minimum, wanted / GRANULE * GRANULE);
    leased += granted;
    stores++;
    return granted;
  }

  private IOException tooLittle(long free, long minimum) {
    return minimum > bytes
        ? new IOException(
            "the minimum memory of a store exceeds the slot's memory:"
                + " state.backend.faster.memory.minimum-per-operator="
                + minimum
                + " bytes, managed memory of the slot for state="
                + bytes
                + "; lower the former, or raise taskmanager.memory.managed.size")
        : new IOException(
            "too many operators with state share the slot's managed memory: operators="
                + stores
                + ", free="
                + free
                + " of "
                + bytes
                + " bytes, needed for another="
                + minimum
                + "; raise taskmanager.memory.managed.size, lower"
                + " state.backend.faster.memory.lease-share so that the slot's first stores leave"
                + " more to the others, or give operators slot sharing groups of their own");
  }

  synchronized void release(long granted) {
    leased -= granted;
    stores--;
  }

  /** Bytes that are leased now: 0 to the pool's size. */
  synchronized long leased() {
    return leased;
  }

  @Override
  public void close() {}
}
