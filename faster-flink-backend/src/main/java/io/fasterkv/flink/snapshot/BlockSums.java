package io.fasterkv.flink.snapshot;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/**
 * Collects the checksums of a log file's blocks while the file is written. Blocks are added in the
 * order of their addresses. A block ends at a multiple of {@link LogFileFormat#BLOCK_BYTES}, or at
 * the end of its piece. For one thread.
 */
final class BlockSums {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream sums = new DataOutputStream(bytes);
  private final CRC32C crc = new CRC32C();

  BlockSums() throws IOException {
    sums.writeInt(LogFileFormat.BLOCK_BYTES);
  }

  /** Adds the next block, a part of {@code content}. */
  void add(byte[] content, int from, int length) throws IOException {
    crc.reset();
    crc.update(content, from, length);
    sums.writeInt((int) crc.getValue());
  }

  /** Writes all checksums as one block of a file. */
  void write(OutputStream out) throws IOException {
    Blocks.write(out, bytes.toByteArray(), bytes.size());
  }
}
