package io.fasterkv.spi;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * The functions of a store for integrators, which keep versions of the store outside its directory
 * and restore stores from there. Safe for all threads.
 */
public interface StoreIntegration {
  /**
   * Ends a version of the store, as {@link io.fasterkv.StoreCheckpoints#take()} does, and returns
   * it for storage outside the store's directory. The call performs only the version shift, a few
   * rounds of epochs. It does not wait for the disk or for idle sessions, but it does wait for a
   * running checkpoint or a resize of the index. Any number of exports may be open.
   *
   * @return the export
   * @throws io.fasterkv.api.StoreException.BadConfig if the store is in memory
   */
  StoreExport export();

  /**
   * Starts to copy the rest of the log from the {@link LogOrigin} that the store was opened from,
   * in the background. Does nothing if there is no origin, or if the copy was started before. If a
   * piece fails its checksum, the store accepts no more writes.
   */
  void copyOrigin();

  /** {@return how many bytes {@link #copyOrigin} still has to copy; 0 if there is no origin} */
  long bytesToCopy();

  /**
   * {@return how many bytes {@link #releaseMemory} could release now; 0 if it cannot release any,
   * as without native access, or if it is doing so}
   */
  long releasableBytes();

  /**
   * Starts to release memory for other stores that share it with this one: of the log, whose oldest
   * records are then on the device only, and what the index has not taken yet. Operations continue;
   * writers may have to wait for the device. The store's memory budget falls by as much for good.
   *
   * @param bytes how many bytes to release; more by less than a page, since the log releases whole
   *     pages, or fewer if it cannot release so many
   * @param atMost a wait for the device ends after this time, and then the log releases nothing
   * @param released called once, on a thread of the store, with the number of bytes, from 0 on,
   *     that are no longer the store's; it must not throw or wait
   * @return false if nothing will be released, and {@code released} will not be called
   */
  boolean releaseMemory(long bytes, Duration atMost, LongConsumer released);
}
