package io.fasterkv.flink.memory;

/**
 * How much of a slot's memory a store leases when it opens.
 *
 * @param share where memory moves between open stores: the first store's part of the pool, above 0
 *     and up to 1; the n-th store leases at most an n-th of what is free
 * @param parts where it does not move: the number of equal parts of the pool, one for each store;
 *     otherwise 0
 */
record OpeningPart(double share, int parts) {
  static OpeningPart ofFree(double share) {
    return new OpeningPart(share, 0);
  }

  static OpeningPart ofPool(int parts) {
    return new OpeningPart(1, parts);
  }

  boolean isOfPool() {
    return parts > 0;
  }

  /**
   * {@return how many bytes a store leases without asking others}
   *
   * @param pool bytes of the pool
   * @param free bytes of it that no store has
   * @param others number of other stores
   * @param minimum the fewest bytes that it opens with
   */
  long bytes(long pool, long free, int others, long minimum) {
    return isOfPool()
        ? Math.min(free, Math.max(minimum, pool / parts))
        : (long) (free * Math.min(share, 1.0 / (others + 1)));
  }

  /**
   * {@return how many bytes must stay free for stores that may open later, where these can ask
   * nobody}
   *
   * @param pool bytes of the pool
   * @param others number of stores that are open
   */
  long reservedBytes(long pool, int others) {
    return isOfPool() ? pool / parts * Math.max(0, parts - others) : 0;
  }
}
