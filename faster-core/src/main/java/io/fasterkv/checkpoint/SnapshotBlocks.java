package io.fasterkv.checkpoint;

import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where the blocks of a snapshot are. A snapshot covers the log from some address to the cut's end;
 * blocks end at multiples of their size, so the first and the last may be shorter. Each block is in
 * the file of the checkpoint that wrote it: a later snapshot that finds it unchanged names it
 * again. Unchanged means that two checksums of independent polynomials are the same.
 *
 * <p>24 bytes of heap a block.
 */
final class SnapshotBlocks {
  /** Bytes that lead to a block, in a manifest. */
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
  SnapshotBlocks(long from, long until, int blockBytes) {
    this.from = from;
    this.until = until;
    this.blockBytes = blockBytes;
    int count = Math.toIntExact(count(from, until, blockBytes));
    owners = new long[count];
    positions = new long[count];
    crcs = new int[count];
    otherCrcs = new int[count];
  }

  /** How many blocks a range has. */
  static long count(long from, long until, int blockBytes) {
    return from == until ? 0 : (until - 1) / blockBytes - from / blockBytes + 1;
  }

  long from() {
    return from;
  }

  long until() {
    return until;
  }

  int blockBytes() {
    return blockBytes;
  }

  int count() {
    return owners.length;
  }

  /** The number of the block that holds an address. */
  int blockAt(long address) {
    return (int) (address / blockBytes - from / blockBytes);
  }

  long blockFrom(int block) {
    return Math.max(from, (from / blockBytes + block) * blockBytes);
  }

  long blockUntil(int block) {
    return Math.min(until, (from / blockBytes + block + 1) * blockBytes);
  }

  /** The checkpoint whose file has a block. */
  long owner(int block) {
    return owners[block];
  }

  /** Where in that file the block begins. */
  long position(int block) {
    return positions[block];
  }

  /** CRC32C of the block. */
  int crc(int block) {
    return crcs[block];
  }

  /** CRC32 of the block. */
  int otherCrc(int block) {
    return otherCrcs[block];
  }

  void set(int block, long owner, long position, int crc, int otherCrc) {
    owners[block] = owner;
    positions[block] = position;
    crcs[block] = crc;
    otherCrcs[block] = otherCrc;
  }

  /** The block here that has the same range and checksums, or -1. */
  int same(long blockFrom, long blockUntil, int crc, int otherCrc) {
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

  /** The checkpoints whose files it needs. */
  Set<Long> owners() {
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
