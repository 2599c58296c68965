package io.fasterkv.api;

/**
 * A piece of a store's log that never changes: a page, or a part of one.
 *
 * @param from first address
 * @param until first address after it
 * @param crc CRC32C of the bytes
 */
public record LogPiece(long from, long until, int crc) {
  public LogPiece {
    if (from < 0 || from >= until) {
      throw new IllegalArgumentException(
          "a piece of log is out of range: from="
              + from
              + ", until="
              + until
              + ", allowed=0 up, from below until");
    }
  }

  /** How long it is. */
  public int bytes() {
    return Math.toIntExact(until - from);
  }

  /**
   * The number of blocks: the piece is divided at multiples of a size.
   *
   * @param blockBytes a power of two
   */
  public int blocks(int blockBytes) {
    return (int) ((until - 1) / blockBytes - from / blockBytes) + 1;
  }

  /** The first address of a block, or {@link #until} after the last one. */
  public long blockFrom(int block, int blockBytes) {
    return Math.clamp((from / blockBytes + block) * blockBytes, from, until);
  }
}
