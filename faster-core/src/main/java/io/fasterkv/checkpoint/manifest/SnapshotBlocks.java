package io.fasterkv.checkpoint.manifest;

import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Locates the blocks of a snapshot. A snapshot covers the log from some address to the cut's end;
 * blocks end at multiples of their size, so the first and the last may be shorter. Each block is in
 * a file of the checkpoint that wrote it; a later snapshot that finds it unchanged refers to it.
 * Unchanged means that two checksums with independent polynomials are equal.
 *
 * <p>Takes 24 bytes of heap for each block.
 */
public final class SnapshotBlocks {
  /** Length of a block's entry in a manifest. */
  static final int ENTRY_BYTES = 2 * Long.BYTES + 2 * Integer.BYTES;

  private final long from;
  private final long until;
  private final int blockBytes;
  private final long[] owners;
  private final long[] positions;
  private final int[] crcs;
  private final int[] otherCrcs;

  /**
   * @param from the first address
   * @param until the first address after
   * @param blockBytes a power of two
   */
  public SnapshotBlocks(long from, long until, int blockBytes) {
    this.from = from;
    this.until = until;
    this.blockBytes = blockBytes;
    int count = Math.toIntExact(count(from, until, blockBytes));
    owners = new long[count];
    positions = new long[count];
    crcs = new int[count];
    otherCrcs = new int[count];
  }

  /** Number of blocks in a range. */
  static long count(long from, long until, int blockBytes) {
    return from == until ? 0 : (until - 1) / blockBytes - from / blockBytes + 1;
  }

  public long from() {
    return from;
  }

  public long until() {
    return until;
  }

  public int blockBytes() {
    return blockBytes;
  }

  int count() {
    return owners.length;
  }

  /** Index of the block that contains an address. */
  public int blockAt(long address) {
    return (int) (address / blockBytes - from / blockBytes);
  }

  public long blockFrom(int block) {
    return Math.max(from, (from / blockBytes + block) * blockBytes);
  }

  public long blockUntil(int block) {
    return Math.min(until, (from / blockBytes + block + 1) * blockBytes);
  }

  /** The checkpoint whose file has the block. */
  public long owner(int block) {
    return owners[block];
  }

  /** Position of the block in that file. */
  public long position(int block) {
    return positions[block];
  }

  /** CRC32C of the block. */
  public int crc(int block) {
    return crcs[block];
  }

  /** CRC32 of the block. */
  public int otherCrc(int block) {
    return otherCrcs[block];
  }

  public void set(int block, long owner, long position, int crc, int otherCrc) {
    owners[block] = owner;
    positions[block] = position;
    crcs[block] = crc;
    otherCrcs[block] = otherCrc;
  }

  /** Index of the block with the same range and checksums, or -1. */
  public int same(long blockFrom, long blockUntil, int crc, int otherCrc) {
    if (blockFrom < from || blockUntil > until) {
      return -1;
    }
    int block = blockAt(blockFrom);
    boolean isSame =
        blockFrom(block) == blockFrom
            && blockUntil(block) == blockUntil
            && crcs[block] == crc
            && otherCrcs[block] == otherCrc;
    return isSame ? block : -1;
  }

  /** The checkpoints that own its files. */
  public Set<Long> owners() {
    Set<Long> all = new TreeSet<>();
    for (long owner : owners) {
      all.add(owner);
    }
    return all;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SnapshotBlocks that
        && from == that.from
        && until == that.until
        && blockBytes == that.blockBytes
        && Arrays.equals(owners, that.owners)
        && Arrays.equals(positions, that.positions)
        && Arrays.equals(crcs, that.crcs)
        && Arrays.equals(otherCrcs, that.otherCrcs);
  }

  @Override
  public int hashCode() {
    return Objects.hash(from, until, blockBytes, Arrays.hashCode(crcs));
  }
}
