package io.fasterkv;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.operation.resize.IndexResizer;

/**
 * A store's hash index: changes its size. {@link StoreStatistics#index()} says how full it is. Safe
 * for all threads.
 */
public final class StoreIndex {
  private final ClosingGate gate;
  private final IndexResizer resizer;

  StoreIndex(ClosingGate gate, IndexResizer resizer) {
    this.gate = gate;
    this.resizer = resizer;
  }

  /**
   * Doubles the hash index, on this thread, concurrently with any number of sessions (SIGMOD'18,
   * appendix B). Sessions continue, but for operations on the few buckets that are being moved.
   * Chains on disk do not matter, except in buckets that share entries because the index is full.
   * Waits for a running checkpoint, and checkpoints wait for this.
   *
   * @return the new size of the index, in bytes
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the budget has no room for the new index
   *     beside the old one; the store keeps the old index. See {@code maxIndexBytes}
   */
  public long grow() {
    return gate.whileOpen(() -> resizer.resize(true));
  }

  /**
   * Halves the hash index, on this thread; sessions move the buckets that they need. If two chains
   * must share an entry of the smaller index, it writes a fork record of up to 24 bytes to the log.
   * That is common only if the index becomes smaller than its initial size, or if keys already
   * share entries because it is full.
   *
   * @return the new size of the index, in bytes
   * @throws BadConfig if the number of main buckets is odd
   * @throws io.fasterkv.api.StoreException.OutOfBudget if the store is in memory and has no room
   *     for that; the store keeps the old index
   */
  public long shrink() {
    return gate.whileOpen(() -> resizer.resize(false));
  }

  /**
   * Doubles or halves the hash index until its size is as close to a target as possible without
   * exceeding it. Memory that the index received from the log ({@code logHalvings}) counts, and is
   * doubled or halved with the rest.
   *
   * @param bytes the target
   * @return the new size of the index, in bytes
   */
  public long resize(long bytes) {
    return gate.whileOpen(() -> resizer.resize(bytes));
  }
}
