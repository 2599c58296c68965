package io.fasterkv.flink.memory;

import java.io.IOException;

/**
 * The part of a slot's managed memory that is meant for state, shared by all stores of the slot.
 * The leases never add up to more than the pool. Safe for use by all threads.
 */
final class SlotMemory implements AutoCloseable {
  private static final long GRANULE = 1 << 10;

  private final long bytes;
  private long leased;

  SlotMemory(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Takes {@code share} of what is free, at least {@code minimum}; in whole KiB.
   *
   * @throws IOException if less than the minimum is free; says what to change
   */
  synchronized long lease(double share, long minimum) throws IOException {
    long free = bytes - leased;
    if (free < minimum) {
      throw new IOException(
          "too little managed memory is left in the slot for another state store: free="
              + free
              + " bytes of "
              + bytes
              + ", needed="
              + minimum
              + "; raise taskmanager.memory.managed.size, or lower"
              + " state.backend.faster.memory.lease-share so that the slot's first stores leave"
              + " more to the others");
    }
    long wanted = Math.max(minimum, (long) (free * share));
    long granted = Math.max(minimum, wanted / GRANULE * GRANULE);
    leased += granted;
    return granted;
  }

  synchronized void giveBack(long granted) {
    leased -= granted;
  }

  /** Bytes that are leased now: 0 to the pool's size. */
  synchronized long leased() {
    return leased;
  }

  @Override
  public void close() {}
}
