package io.fasterkv.compaction;

/**
 * Compacts a store's log, on request and in the background. Created when the store is opened;
 * {@link #start} starts its thread.
 */
public sealed interface LogUpkeep extends AutoCloseable permits DeviceUpkeep, MemoryUpkeep {
  /** Starts background compaction, if the store has it. */
  void start();

  /** Compacts the whole log; returns the number of bytes by which it has shrunk. */
  long compact();

  /**
   * Compacts the log below an address; returns the number of bytes by which it has shrunk.
   *
   * @throws io.fasterkv.api.StoreException.BadConfig without a device
   */
  long compact(long until);

  /** Called when the head of the log was dropped as expired. */
  void truncated();

  /** Lower bound of the log's live bytes. */
  long liveBytes();

  /** Like {@link #liveBytes}, after a look at a sample of the log. */
  long sampledLiveBytes();

  /** Ends background compaction. */
  @Override
  void close();

  /** Releases what compaction on request uses; no compaction may be in progress. */
  void release();
}
