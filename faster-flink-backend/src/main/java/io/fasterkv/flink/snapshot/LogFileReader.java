package io.fasterkv.flink.snapshot;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Reads any part of a {@link LogFile}. Safe for all threads. */
public final class LogFileReader implements LogOrigin.File {
  /**
   * The length of the first read at the end of a file; in most files, no more follows the digest.
   */
  private static final int TAIL_BYTES = 64 << 10;

  private static final int MOST_BLOCK_BYTES = 1 << 26;

  private final LogFile file;
  private final StreamPool streams;
  private final List<LogPiece> pieces;
  private final int blockBytes;

  /** The checksums of all blocks, and the index of each piece's first one. */
  private final int[] crcs;

  private final int[] firstCrcs;

  /** The end of the digest; it begins after the pieces. */
  private final long digestEnd;

  private LogFileReader(LogFile file, StreamPool streams, List<LogPiece> pieces, Sums sums) {
    this.file = file;
    this.streams = streams;
    this.pieces = pieces;
    blockBytes = sums.blockBytes;
    crcs = sums.crcs;
    firstCrcs = sums.firsts;
    digestEnd = sums.at;
  }

  private record Sums(int blockBytes, int[] crcs, int[] firsts, long at) {}

  /**
   * Reads which pieces there are.
   *
   * @param mostPieceBytes how long a piece may be
   */
  public static LogFileReader open(LogFile file, int mostPieceBytes, StreamPool streams)
      throws IOException {
    StreamStateHandle handle = file.handle();
    long size = handle.getStateSize();
    byte[] tail = read(handle, streams, Math.max(0, size - TAIL_BYTES), size);
    long headAt = headAt(handle, streams, tail);
    byte[] head = size - headAt <= tail.length ? tail : read(handle, streams, headAt, size);
    ByteBuffer bytes = ByteBuffer.wrap(head);
    bytes.limit(head.length - LogFileFormat.FOOTER_BYTES);
    bytes.position(Math.toIntExact(head.length - (size - headAt)));
    String place = place(handle, headAt);
    List<LogPiece> pieces = List.copyOf(LogFileFormat.readHead(Blocks.take(bytes, place), place));
    checkPieces(file, pieces, mostPieceBytes, headAt, place);
    Sums sums = sums(pieces, Blocks.take(bytes, place), headAt, place);
    if (bytes.hasRemaining()) {
      throw new IOException("a log file has unexpected bytes at its end: " + place);
    }
    return new LogFileReader(file, streams, pieces, sums);
  }

  private static byte[] read(StreamStateHandle handle, StreamPool streams, long from, long until)
      throws IOException {
    byte[] bytes = new byte[Math.toIntExact(until - from)];
    streams.read(handle, from, MemorySegment.ofArray(bytes));
    return bytes;
  }

  /** The start of the head, according to the footer. */
  private static long headAt(StreamStateHandle handle, StreamPool streams, byte[] tail)
      throws IOException {
    long size = handle.getStateSize();
    int footerAt = tail.length - LogFileFormat.FOOTER_BYTES;
    if (footerAt >= 0) {
      ByteBuffer footer = ByteBuffer.wrap(tail, footerAt, LogFileFormat.FOOTER_BYTES).slice();
      byte[] checked = new byte[LogFileFormat.FOOTER_BYTES - Integer.BYTES];
      footer.get(0, checked);
      long headAt = footer.getLong();
      boolean isOurs =
          footer.getInt() == LogFileFormat.MAGIC
              && footer.getInt() == Blocks.crc(checked, checked.length);
      if (isOurs && headAt >= 0 && headAt <= size - LogFileFormat.FOOTER_BYTES) {
        return headAt;
      }
    }
    throw notOurs(handle, streams, size);
  }

  /** Older versions begin with a block that has a magic number. */
  private static IOException notOurs(StreamStateHandle handle, StreamPool streams, long size)
      throws IOException {
    if (size >= Long.BYTES) {
      int found = ByteBuffer.wrap(read(handle, streams, 0, Long.BYTES)).getInt(Integer.BYTES);
      if (CheckpointMeta.text(found).startsWith("FLG") && found != LogFileFormat.MAGIC) {
        return LogFileFormat.otherVersion(found, place(handle, 0));
      }
    }
    return new IOException(
        "not a log file of this backend, or its end is damaged: "
            + place(handle, Math.max(0, size - LogFileFormat.FOOTER_BYTES))
            + ", fileBytes="
            + size
            + "; checkpoints of other state backends are read as canonical savepoints only");
  }

  private static void checkPieces(
      LogFile file, List<LogPiece> pieces, int mostPieceBytes, long headAt, String place)
      throws IOException {
    boolean isNamed =
        !pieces.isEmpty()
            && pieces.getFirst().from() == file.from()
            && pieces.getLast().until() == file.until();
    if (!isNamed) {
      throw new IOException("a log file does not match its name: " + place + ", name=" + file);
    }
    if (file.until() - file.from() > headAt) {
      throw new IOException("a log file is shorter than its pieces: " + place + ", name=" + file);
    }
    for (LogPiece piece : pieces) {
      LogFileFormat.checkLength(piece, mostPieceBytes, place);
    }
  }

  private static Sums sums(List<LogPiece> pieces, byte[] block, long headAt, String place)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(block);
    try {
      int blockBytes = bytes.getInt();
      if (Integer.bitCount(blockBytes) != 1 || blockBytes < 1 || blockBytes > MOST_BLOCK_BYTES) {
        throw new IOException(
            "blocks of a log file have a size that is out of range: bytes="
                + blockBytes
                + ", allowed=a power of two up to "
                + MOST_BLOCK_BYTES
                + ", "
                + place);
      }
      int[] firsts = new int[pieces.size()];
      int count = 0;
      for (int i = 0; i < firsts.length; i++) {
        firsts[i] = count;
        count += pieces.get(i).blocks(blockBytes);
      }
      if (bytes.remaining() != count * Integer.BYTES) {
        throw new BufferUnderflowException();
      }
      int[] crcs = new int[count];
      bytes.asIntBuffer().get(crcs);
      return new Sums(blockBytes, crcs, firsts, headAt);
    } catch (BufferUnderflowException cause) {
      throw new IOException("the checksums of a log file do not match its pieces: " + place, cause);
    }
  }

  @Override
  public List<LogPiece> pieces() {
    return pieces;
  }

  @Override
  public int blockBytes() {
    return blockBytes;
  }

  @Override
  public int blockCrc(int piece, int block) {
    return crcs[firstCrcs[piece] + block];
  }

  @Override
  public boolean hasDigest() {
    return digestEnd > digestAt();
  }

  @Override
  public void readDigest(LogOrigin.DigestVisitor visitor) throws IOException {
    int most = LogFileFormat.DIGEST_PART_BYTES + Blocks.OVERHEAD_BYTES;
    for (long at = digestAt(); at < digestEnd; ) {
      byte[] bytes = read(file.handle(), streams, at, Math.min(digestEnd, at + most));
      ByteBuffer part = ByteBuffer.wrap(bytes);
      visitor.visit(Blocks.take(part, place(file.handle(), at)));
      at += part.position();
    }
  }

  private long digestAt() {
    return file.until() - file.from();
  }

  @Override
  public void read(long address, MemorySegment target) throws IOException {
    streams.read(file.handle(), address - file.from(), target);
  }

  @Override
  public String place(long address) {
    return place(file.handle(), address - file.from());
  }

  private static String place(StreamStateHandle handle, long offset) {
    return "file=" + Blocks.nameOf(handle) + ", offset=" + offset;
  }
}
