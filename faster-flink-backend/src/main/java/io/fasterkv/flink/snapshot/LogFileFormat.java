package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.LogPiece;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads and writes the bytes of a {@link LogFile}: the pieces of the log in order, each block of
 * them compressed independently or as it is; blocks with their digest, if it is short; a block that
 * lists the pieces; a block with the stored lengths and the checksums of the pieces' blocks; and a
 * footer of fixed length with their positions. So one read of the end of a file is enough to read
 * any part of it. docs/FORMAT.md has a drawing.
 */
public final class LogFileFormat {
  /** "FLG4". */
  static final int MAGIC = 0x464C4734;

  /** The length of each part of a digest except the last: a multiple of an entry. */
  static final int DIGEST_PART_BYTES = 24 * 2_720;

  /** The end of the digest (8), the magic number (4), and the checksum of both (4). */
  static final int FOOTER_BYTES = 16;

  private LogFileFormat() {}

  /** Receives a piece of a log. */
  public interface Visitor {
    /**
     * @param bytes valid until this returns
     * @param place names the file and the offset
     */
    void visit(LogPiece piece, MemorySegment bytes, String place) throws IOException;
  }

  /** Writes consecutive pieces. */
  static void write(List<LogPiece> pieces, PieceParts parts, ShortDigest digest, OutputStream out)
      throws IOException {
    BlockTable table = new BlockTable();
    for (LogPiece piece : pieces) {
      digest.add(piece);
      parts.write(piece, table);
    }
    long end = table.storedBytes() + writeDigest(digest.bytes(), out);
    writeHead(pieces, out);
    table.write(out);
    out.write(footer(end));
  }

  /** Writes a digest in parts; returns the number of bytes. */
  private static long writeDigest(byte[] digest, OutputStream out) throws IOException {
    long written = 0;
    for (int from = 0; from < digest.length; from += DIGEST_PART_BYTES) {
      byte[] part =
          Arrays.copyOfRange(digest, from, Math.min(digest.length, from + DIGEST_PART_BYTES));
      Blocks.write(out, part, part.length);
      written += part.length + Blocks.OVERHEAD_BYTES;
    }
    return written;
  }

  private static byte[] footer(long headAt) {
    ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES).putLong(headAt).putInt(MAGIC);
    return footer.putInt(Blocks.crc(footer.array(), footer.position())).array();
  }

  /** Writes the list of pieces. */
  static void writeHead(List<LogPiece> pieces, OutputStream out) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream head = new DataOutputStream(bytes);
    head.writeInt(MAGIC);
    head.writeInt(pieces.size());
    head.writeLong(pieces.isEmpty() ? 0 : pieces.getFirst().from());
    for (LogPiece piece : pieces) {
      head.writeLong(piece.until());
      head.writeInt(piece.crc());
    }
    Blocks.write(out, bytes.toByteArray(), bytes.size());
  }

  /** Reads the list of pieces. */
  static List<LogPiece> readHead(Blocks.In in) throws IOException {
    String place = in.place();
    return readHead(in.block(), place);
  }

  /** Reads the list of pieces from a block that {@link #writeHead} has written. */
  static List<LogPiece> readHead(byte[] block, String place) throws IOException {
    ByteBuffer head = ByteBuffer.wrap(block);
    try {
      int magic = head.getInt();
      if (magic != MAGIC) {
        throw otherVersion(magic, place);
      }
      List<LogPiece> pieces = new ArrayList<>();
      int count = head.getInt();
      long from = head.getLong();
      for (int i = 0; i < count; i++) {
        long until = head.getLong();
        pieces.add(new LogPiece(from, until, head.getInt()));
        from = until;
      }
      return pieces;
    } catch (BufferUnderflowException | IllegalArgumentException cause) {
      throw new IOException("the head of a log file is not what was written: " + place, cause);
    }
  }

  static boolean isOtherVersion(int magic) {
    return magic != MAGIC && CheckpointMeta.text(magic).startsWith("FLG");
  }

  /** The error for a file without the magic number. */
  static IOException otherVersion(int found, String place) {
    return new IOException(
        "not a log file of this version of the backend: "
            + place
            + ", found="
            + CheckpointMeta.text(found)
            + ", allowed="
            + CheckpointMeta.text(MAGIC)
            + "; to change the state backend or its version, restore from a canonical savepoint");
  }

  /**
   * Passes the pieces to the visitor, which must check their contents.
   *
   * @param mostPieceBytes maximum length of a piece
   */
  public static void read(LogFile file, int mostPieceBytes, StreamPool streams, Visitor visitor)
      throws IOException {
    LogFileReader reader = LogFileReader.open(file, mostPieceBytes, streams);
    MemorySegment page = MemorySegment.ofArray(new byte[mostPieceBytes]);
    for (LogPiece piece : reader.pieces()) {
      MemorySegment bytes = page.asSlice(0, piece.bytes());
      reader.read(piece.from(), bytes);
      visitor.visit(piece, bytes, reader.place(piece.from()));
    }
  }

  static void checkLength(LogPiece piece, int mostPieceBytes, String place) throws IOException {
    if (piece.until() - piece.from() > mostPieceBytes) {
      throw new IOException("a piece of log is longer than a page: " + place + ", piece=" + piece);
    }
  }
}
