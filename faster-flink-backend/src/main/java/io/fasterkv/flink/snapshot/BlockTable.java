package io.fasterkv.flink.snapshot;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Collects the stored lengths and the checksums of a log file's blocks while the file is written.
 * Blocks are added in the order of their addresses. A block ends at a multiple of {@link
 * #BLOCK_BYTES}, or at the end of its piece. For one thread.
 */
final class BlockTable {
  /** The number of bytes that are read and checked together when an operation misses a record. */
  static final int BLOCK_BYTES = 32 << 10;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream table = new DataOutputStream(bytes);
  private long stored;

  BlockTable() throws IOException {
    table.writeInt(BLOCK_BYTES);
  }

  /**
   * Adds the next block.
   *
   * @param length how many bytes of the file it has
   * @param crc the checksum of the bytes of the log
   */
  void add(int length, int crc) throws IOException {
    table.writeInt(length);
    table.writeInt(crc);
    stored += length;
  }

  /** How many bytes of the file all blocks have. */
  long storedBytes() {
    return stored;
  }

  /** Writes the table as one block of a file. */
  void write(OutputStream out) throws IOException {
    Blocks.write(out, bytes.toByteArray(), bytes.size());
  }
}
