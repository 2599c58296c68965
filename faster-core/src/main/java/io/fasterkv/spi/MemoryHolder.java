package io.fasterkv.spi;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * A store that shares memory with others, and can release some to them and accept more. Safe for
 * all threads.
 */
public interface MemoryHolder {
  /**
   * {@return how many bytes {@link #releaseMemory} could release now, or fewer while the index is
   * being resized; 0 if a release is in progress or the store is closing} Without native access the
   * log has none to release.
   */
  long releasableBytes();

  /**
   * Starts to release memory to other stores that share it with this one: log memory, whose records
   * then remain only on the device, and index memory that is not in use yet. Operations continue;
   * writers may have to wait for the device. The store's memory budget falls by as much.
   *
   * @param bytes how many bytes are wanted; the store releases up to a page more, since the log
   *     releases whole pages, or less if it has less
   * @param atMost after this time the log stops waiting for the device and releases nothing; what
   *     the index has released still counts
   * @param released called once, on a thread of the store, with the number of released bytes, 0 or
   *     more; it must not throw or wait
   * @return false if nothing will be released, and {@code released} will not be called
   */
  boolean releaseMemory(long bytes, Duration atMost, LongConsumer released);

  /**
   * {@return by how many bytes the store's memory may rise now: up to {@code maxMemoryBytes} of its
   * settings; 0 if a release is in progress, if the store is closing or has failed, or if its disk
   * is full}
   */
  long acceptableBytes();

  /**
   * Gives the store's log more memory: records that are written from now on stay in memory for
   * longer. Operations continue. Returns when the memory has been touched, a few milliseconds for
   * each 10 MiB. Without native access the log accepts none.
   *
   * @param bytes how many bytes are offered; no other store may use them any more
   * @return how many bytes the log has accepted, in whole pages; the store's memory budget has
   *     risen by as much
   */
  long acceptLogMemory(long bytes);

  /**
   * Gives the store's index memory for its next growth. Operations continue. An index that lacks
   * memory, see {@link MemoryUses#indexLackBytes}, grows as soon as it has that, and does not
   * release what it then uses; until then the store can release the memory. An index that does not
   * grow accepts nothing.
   *
   * @param bytes how many bytes are offered; no other store may use them any more
   * @return how many bytes the index has accepted; the store's memory budget has risen by as much
   */
  long acceptIndexMemory(long bytes);

  /**
   * Releases to other stores what the index has not taken and does not need, see {@link
   * MemoryUses#spareIndexBytes}. Waits only while the log is accepting memory. The store's memory
   * budget falls by as much.
   *
   * @param bytes how many bytes at most
   * @return how many bytes are no longer the store's; 0 while the index is being resized or {@link
   *     #releaseMemory} is in progress
   */
  long releaseIndexMemory(long bytes);

  /**
   * Gives the store's log what its index has not taken and does not need, see {@link
   * MemoryUses#spareIndexBytes}. The store's memory budget stays.
   *
   * @param bytes how many bytes at most
   * @return how many bytes the log has received, in whole pages
   */
  long moveIndexMemoryToLog(long bytes);

  /** {@return how the store uses its memory} */
  MemoryUses memoryUses();
}
