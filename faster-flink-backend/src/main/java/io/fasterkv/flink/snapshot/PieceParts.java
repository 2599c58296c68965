package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes pieces of a log to a stream block by block, so that no buffer has to hold a whole piece.
 * It uses the store for one part at a time and never while writing to the stream, so a storage that
 * hangs does not keep the store open. For one thread.
 */
final class PieceParts {
  private final StoreExport export;
  private final OutputStream out;
  private final Cancellation cancellation;
  private final @Nullable BlockPacker packer;
  private final byte[] part = new byte[BlockTable.BLOCK_BYTES];
  private final MemorySegment segment = MemorySegment.ofArray(part);
  private final CRC32C crc = new CRC32C();
  private final CRC32C blockCrc = new CRC32C();

  /**
   * @param packer compresses the blocks; null to store them as they are
   */
  PieceParts(
      StoreExport export,
      OutputStream out,
      Cancellation cancellation,
      @Nullable BlockPacker packer) {
    this.export = export;
    this.out = out;
    this.cancellation = cancellation;
    this.packer = packer;
  }

  /**
   * Writes a piece, and adds its blocks to the table.
   *
   * @throws io.fasterkv.api.StoreException.Corrupt if the piece is damaged; the caller must discard
   *     the stream
   */
  void write(LogPiece piece, BlockTable table) throws IOException {
    crc.reset();
    for (long at = piece.from(); at < piece.until(); at = end(piece, at)) {
      long from = at;
      MemorySegment bytes = segment.asSlice(0, end(piece, from) - from);
      cancellation.inStore(() -> export.read(from, bytes));
      writeBlock((int) bytes.byteSize(), table);
    }
    cancellation.inStore(() -> export.verify(piece, (int) crc.getValue()));
  }

  private void writeBlock(int length, BlockTable table) throws IOException {
    crc.update(part, 0, length);
    blockCrc.reset();
    blockCrc.update(part, 0, length);
    int stored = packer == null ? length : packer.pack(part, length);
    table.add(stored, (int) blockCrc.getValue());
    out.write(packer == null || stored == length ? part : packer.packed(), 0, stored);
  }

  private static long end(LogPiece piece, long from) {
    return Math.min(piece.until(), (from / BlockTable.BLOCK_BYTES + 1) * BlockTable.BLOCK_BYTES);
  }
}
