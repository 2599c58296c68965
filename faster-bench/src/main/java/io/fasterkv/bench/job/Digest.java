package io.fasterkv.bench.job;

import java.io.Serializable;

/**
 * Summary of a result, whatever the order of its rows.
 *
 * @param added rows that were added, by inserts and updates
 * @param removed rows that were removed, by deletes and updates
 * @param sum of the hashes of added rows, less those of removed rows: a row that was removed again
 *     leaves no trace
 */
public record Digest(long added, long removed, long sum) implements Serializable {
  static final Digest EMPTY = new Digest(0, 0, 0);

  Digest plus(Digest other) {
    return new Digest(added + other.added, removed + other.removed, sum + other.sum);
  }

  /** Rows of the final result. */
  public long rows() {
    return added - removed;
  }

  /** Says whether both are of the same final result. */
  public boolean isSameResult(Digest other) {
    return rows() == other.rows() && sum == other.sum;
  }
}
