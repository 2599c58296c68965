package io.fasterkv.spi;

/**
 * A part of a store's log that never changes: a page, or a part of one.
 *
 * @param from first address
 * @param until first address after the piece
 * @param crc CRC32C of the bytes
 */
public record LogPiece(long from, long until, int crc) {
  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if the range is empty or starts below 0
   */
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

  /** {@return the length in bytes} */
  public int bytes() {
    return Math.toIntExact(until - from);
  }

  /**
   * Counts the blocks of this piece. Blocks are bounded by the addresses that are multiples of the
   * block size.
   *
   * @param blockBytes block size, a power of two
   * @return the number of blocks
   */
  public int blocks(int blockBytes) {
    return (int) ((until - 1) / blockBytes - from / blockBytes) + 1;
  }

  /**
   * Returns where a block starts.
   *
   * @param block position of the block, from 0 to the number of blocks
   * @param blockBytes block size, a power of two
   * @return the block's first address; {@link #until} for the position after the last block
   */
  public long blockFrom(int block, int blockBytes) {
    return Math.clamp((from / blockBytes + block) * blockBytes, from, until);
  }
}
