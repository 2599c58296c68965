package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * Writes pieces of a log to a stream block by block, so that no buffer has to hold a whole piece.
 * The store is used for one part at a time, and never while the stream is written to: a storage
 * that hangs does not keep the store open. For one thread.
 */
final class PieceParts {
  private final StoreExport export;
  private final OutputStream out;
  private final Cancellation cancellation;
  private final byte[] part = new byte[LogFileFormat.BLOCK_BYTES];
  private final MemorySegment segment = MemorySegment.ofArray(part);
  private final CRC32C crc = new CRC32C();

  PieceParts(StoreExport export, OutputStream out, Cancellation cancellation) {
    this.export = export;
    this.out = out;
    this.cancellation = cancellation;
  }

  /**
   * Writes a piece, and adds the checksums of its blocks.
   *
   * @throws io.fasterkv.api.StoreException.Corrupt if the piece is damaged; the caller must discard
   *     the stream
   */
  void write(LogPiece piece, BlockSums sums) throws IOException {
    crc.reset();
    for (long at = piece.from(); at < piece.until(); at = end(piece, at)) {
      long from = at;
      MemorySegment bytes = segment.asSlice(0, end(piece, from) - from);
      cancellation.inStore(() -> export.read(from, bytes));
      crc.update(part, 0, (int) bytes.byteSize());
      sums.add(part, 0, (int) bytes.byteSize());
      out.write(part, 0, (int) bytes.byteSize());
    }
    cancellation.inStore(() -> export.verify(piece, (int) crc.getValue()));
  }

  private static long end(LogPiece piece, long from) {
    return Math.min(
        piece.until(), (from / LogFileFormat.BLOCK_BYTES + 1) * LogFileFormat.BLOCK_BYTES);
  }
}
