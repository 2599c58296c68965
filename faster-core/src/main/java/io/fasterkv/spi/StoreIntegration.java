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
   * {@return how many bytes {@link #releaseMemory} could release now, or fewer while the index is
   * being resized; 0 if a release is in progress or the store is closing} Without native access the
   * log has none to release.
   */
  long releasableBytes();

  /**
   * Starts to release memory to other stores that share it with this one: log memory, whose records
   * then remain only on the device, and index memory that is not in use yet. Operations continue;
   * writers may have to wait for the device. The store's memory budget falls by as much for good.
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
}
