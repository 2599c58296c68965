package io.fasterkv.flink.snapshot;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link LogFile} of which single pieces are read. Safe for all threads. */
public final class LogFileReader implements LogOrigin.File {
  private final LogFile file;
  private final List<LogPiece> pieces;

  /** Offset of the first piece; the others follow without a gap. */
  private final long piecesAt;

  private LogFileReader(LogFile file, List<LogPiece> pieces, long piecesAt) {
    this.file = file;
    this.pieces = pieces;
    this.piecesAt = piecesAt;
  }

  /**
   * Reads which pieces there are.
   *
   * @param mostPieceBytes how long a piece may be
   */
  public static LogFileReader open(LogFile file, int mostPieceBytes) throws IOException {
    try (Blocks.In in = new Blocks.In(file.handle())) {
      List<LogPiece> pieces = List.copyOf(LogFileFormat.readHead(file, in));
      for (LogPiece piece : pieces) {
        LogFileFormat.checkLength(piece, mostPieceBytes, in.place());
      }
      return new LogFileReader(file, pieces, in.position());
    }
  }

  @Override
  public List<LogPiece> pieces() {
    return pieces;
  }

  @Override
  public byte @Nullable [] digest() throws IOException {
    try (Blocks.In in = new Blocks.In(file.handle(), offset(file.until()))) {
      byte[] digest = in.block();
      if (!in.isAtEnd()) {
        throw new IOException("a log file goes on after its digest: " + in.place());
      }
      return digest.length == 0 ? null : digest;
    }
  }

  @Override
  public void read(LogPiece piece, MemorySegment target) throws IOException {
    try (Blocks.In in = new Blocks.In(file.handle(), offset(piece.from()))) {
      in.read(target, new byte[piece.bytes()]);
    }
  }

  @Override
  public void readAll(MemorySegment buffer, LogOrigin.Visitor visitor) throws IOException {
    byte[] page = new byte[pieces.stream().mapToInt(LogPiece::bytes).max().orElse(0)];
    try (Blocks.In in = new Blocks.In(file.handle(), piecesAt)) {
      for (LogPiece piece : pieces) {
        MemorySegment bytes = buffer.asSlice(0, piece.bytes());
        in.read(bytes, page);
        if (!visitor.visit(piece, bytes)) {
          return;
        }
      }
    }
  }

  private long offset(long address) {
    return piecesAt + address - file.from();
  }

  @Override
  public String place(LogPiece piece) {
    return "file=" + Blocks.nameOf(file.handle()) + ", offset=" + offset(piece.from());
  }
}
