package io.fasterkv.spi;

/**
 * The functions of a store for integrators, which keep versions of the store outside its directory
 * and restore stores from there. Safe for all threads.
 */
public interface StoreIntegration extends MemoryHolder {
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
}
