package io.fasterkv.flink.memory;

/**
 * How much of a slot's memory a store leases when it opens.
 *
 * @param parts where memory does not move between open stores: the number of equal parts of the
 *     pool, one for each store; otherwise 0
 */
record OpeningPart(int parts) {
  /**
   * The first store leaves half of the pool to those that open at the same time: while it opens, it
   * releases nothing.
   */
  private static final int LEAST_SHARES = 2;

  /** The n-th store leases 1/n of the free and the spare memory, and the first one half of it. */
  static OpeningPart ofUnused() {
    return new OpeningPart(0);
  }

  static OpeningPart ofPool(int parts) {
    return new OpeningPart(parts);
  }

  boolean isOfPool() {
    return parts > 0;
  }

  /**
   * {@return how many bytes a new store leases without memory that others use}
   *
   * @param pool bytes of the pool
   * @param unused bytes of it that are free or spare
   * @param others number of other stores
   * @param minimum the fewest bytes that it opens with
   */
  long bytes(long pool, long unused, int others, long minimum) {
    return isOfPool()
        ? Math.min(unused, Math.max(minimum, pool / parts))
        : unused / Math.max(LEAST_SHARES, others + 1);
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
