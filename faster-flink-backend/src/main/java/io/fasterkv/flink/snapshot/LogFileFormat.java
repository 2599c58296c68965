package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a {@link LogFile}: a block that says which pieces of the log follow, the pieces as
 * they are, one after another, and a block with their digest, which is empty if that would be long.
 * docs/FORMAT.md draws it.
 */
public final class LogFileFormat {
  /** "FLG2". */
  private static final int MAGIC = 0x464C4732;

  private LogFileFormat() {}

  /** Takes a piece of a log. */
  public interface Visitor {
    /**
     * @param bytes valid until this returns
     * @param place names the file and the offset
     */
    void visit(LogPiece piece, MemorySegment bytes, String place) throws IOException;
  }

  /** Writes pieces, which follow each other. */
  static void write(
      StoreExport export, List<LogPiece> pieces, OutputStream out, Cancellation cancellation)
      throws IOException {
    writeHead(pieces, out);
    byte[] page = new byte[pieces.stream().mapToInt(LogPiece::bytes).max().orElse(0)];
    try (ShortDigest digest = new ShortDigest(export)) {
      for (LogPiece piece : pieces) {
        cancellation.check();
        MemorySegment bytes = MemorySegment.ofArray(page).asSlice(0, piece.bytes());
        export.read(piece, bytes);
        out.write(page, 0, piece.bytes());
        digest.add(piece, bytes);
      }
      byte[] last = digest.bytes();
      Blocks.write(out, last, last.length);
    }
  }

  /** Writes which pieces there are. */
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

  /** Reads which pieces there are. */
  static List<LogPiece> readHead(Blocks.In in) throws IOException {
    String place = in.place();
    return pieces(ByteBuffer.wrap(in.block()), place);
  }

  /** Reads which pieces a file has. */
  static List<LogPiece> readHead(LogFile file, Blocks.In in) throws IOException {
    String place = in.place();
    List<LogPiece> pieces = readHead(in);
    boolean isNamed =
        !pieces.isEmpty()
            && pieces.getFirst().from() == file.from()
            && pieces.getLast().until() == file.until();
    if (!isNamed) {
      throw new IOException(
          "a log file is another one than its name says: " + place + ", name=" + file);
    }
    return pieces;
  }

  /**
   * Shows the pieces; whose bytes they are is for the visitor to check.
   *
   * @param mostPieceBytes how long a piece may be
   */
  public static void read(LogFile file, int mostPieceBytes, Visitor visitor) throws IOException {
    try (Blocks.In in = new Blocks.In(file.handle())) {
      byte[] page = new byte[mostPieceBytes];
      for (LogPiece piece : readHead(file, in)) {
        String at = in.place();
        checkLength(piece, mostPieceBytes, at);
        in.read(page, piece.bytes());
        visitor.visit(piece, MemorySegment.ofArray(page).asSlice(0, piece.bytes()), at);
      }
      in.block();
      if (!in.isAtEnd()) {
        throw new IOException("a log file goes on after its digest: " + in.place());
      }
    }
  }

  static void checkLength(LogPiece piece, int mostPieceBytes, String place) throws IOException {
    if (piece.until() - piece.from() > mostPieceBytes) {
      throw new IOException("a piece of log is longer than a page: " + place + ", piece=" + piece);
    }
  }

  private static List<LogPiece> pieces(ByteBuffer head, String place) throws IOException {
    try {
      if (head.getInt() != MAGIC) {
        throw new IOException(
            "not a log file of this backend: "
                + place
                + "; checkpoints of other state backends are read as canonical savepoints only");
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
}
