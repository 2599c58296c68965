package io.fasterkv.flink.snapshot;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.spi.LogPiece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Reads any part of a {@link LogFile}. Safe for all threads. */
public final class LogFileReader implements LogOrigin.File {
  /**
   * The length of the first read at the end of a file; for most files, it covers everything after
   * the digest.
   */
  private static final int TAIL_BYTES = 64 << 10;

  private final LogFile file;
  private final StreamPool streams;
  private final List<LogPiece> pieces;
  private final int blockBytes;

  /** The position in the file of each block, and of the end of the last one. */
  private final int[] offsets;

  /** The checksum of each block. */
  private final int[] crcs;

  /** The index of each piece's first block. */
  private final int[] firsts;

  /** The end of the digest; it begins after the pieces. */
  private final long digestEnd;

  private LogFileReader(LogFile file, StreamPool streams, List<LogPiece> pieces, Table table) {
    this.file = file;
    this.streams = streams;
    this.pieces = pieces;
    blockBytes = table.blockBytes;
    offsets = table.offsets;
    crcs = table.crcs;
    firsts = table.firsts;
    digestEnd = table.at;
  }

  private record Table(int blockBytes, int[] offsets, int[] crcs, int[] firsts, long at) {}

  /**
   * Reads the list of pieces.
   *
   * @param mostPieceBytes maximum length of a piece
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
    checkPieces(file, pieces, mostPieceBytes, place);
    Table table = table(pieces, Blocks.take(bytes, place), headAt, place);
    if (bytes.hasRemaining()) {
      throw new IOException("a log file has unexpected bytes at its end: " + place);
    }
    return new LogFileReader(file, streams, pieces, table);
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
      int magic = footer.getInt();
      boolean isSound = footer.getInt() == Blocks.crc(checked, checked.length);
      if (isSound && LogFileFormat.isOtherVersion(magic)) {
        throw LogFileFormat.otherVersion(magic, place(handle, size - checked.length));
      }
      boolean isOurs = isSound && magic == LogFileFormat.MAGIC;
      if (isOurs && headAt >= 0 && headAt <= size - LogFileFormat.FOOTER_BYTES) {
        return headAt;
      }
    }
    throw notOurs(handle, streams, size);
  }

  /**
   * The error for a file in another format. The oldest versions begin with a block that has a magic
   * number.
   */
  private static IOException notOurs(StreamStateHandle handle, StreamPool streams, long size)
      throws IOException {
    if (size >= Long.BYTES) {
      int found = ByteBuffer.wrap(read(handle, streams, 0, Long.BYTES)).getInt(Integer.BYTES);
      if (LogFileFormat.isOtherVersion(found)) {
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
      LogFile file, List<LogPiece> pieces, int mostPieceBytes, String place) throws IOException {
    boolean isNamed =
        !pieces.isEmpty()
            && pieces.getFirst().from() == file.from()
            && pieces.getLast().until() == file.until();
    if (!isNamed) {
      throw new IOException("a log file does not match its name: " + place + ", name=" + file);
    }
    for (LogPiece piece : pieces) {
      LogFileFormat.checkLength(piece, mostPieceBytes, place);
    }
  }

  private static Table table(List<LogPiece> pieces, byte[] block, long headAt, String place)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(block);
    try {
      int blockBytes = bytes.getInt();
      if (Integer.bitCount(blockBytes) != 1
          || blockBytes < 1
          || blockBytes > BlockTable.BLOCK_BYTES) {
        throw new IOException(
            "blocks of a log file have a size that is out of range: bytes="
                + blockBytes
                + ", allowed=a power of two up to "
                + BlockTable.BLOCK_BYTES
                + ", "
                + place);
      }
      int[] firsts = new int[pieces.size()];
      int count = 0;
      for (int i = 0; i < firsts.length; i++) {
        firsts[i] = count;
        count += pieces.get(i).blocks(blockBytes);
      }
      if (bytes.remaining() != count * 2 * Integer.BYTES) {
        throw new BufferUnderflowException();
      }
      int[] offsets = new int[count + 1];
      int[] crcs = new int[count];
      for (int i = 0; i < count; i++) {
        int stored = bytes.getInt();
        offsets[i + 1] = offsets[i] + stored;
        if (stored < 0 || stored > blockBytes || offsets[i + 1] > headAt) {
          throw new IOException("a log file is shorter than its blocks: " + place);
        }
        crcs[i] = bytes.getInt();
      }
      return new Table(blockBytes, offsets, crcs, firsts, headAt);
    } catch (BufferUnderflowException cause) {
      throw new IOException("the blocks of a log file do not match its pieces: " + place, cause);
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
    return crcs[firsts[piece] + block];
  }

  @Override
  public boolean hasDigest() {
    return digestEnd > storedBytes();
  }

  @Override
  public void readDigest(LogOrigin.DigestVisitor visitor) throws IOException {
    int most = LogFileFormat.DIGEST_PART_BYTES + Blocks.OVERHEAD_BYTES;
    for (long at = storedBytes(); at < digestEnd; ) {
      byte[] bytes = read(file.handle(), streams, at, Math.min(digestEnd, at + most));
      ByteBuffer part = ByteBuffer.wrap(bytes);
      visitor.visit(Blocks.take(part, place(file.handle(), at)));
      at += part.position();
    }
  }

  /** Bytes of the file that the log's blocks take; the digest follows. */
  int storedBytes() {
    return offsets[crcs.length];
  }

  @Override
  public void prepare() {
    streams.prepare(file.handle());
  }

  @Override
  public void read(long address, MemorySegment target) throws IOException {
    int piece = piece(address);
    int first = block(piece, address);
    streams.read(
        file.handle(), offsets[first], input -> read(input, piece, first, address, target));
  }

  /** Reads whole blocks, starting at one, until {@code target} is full. */
  private void read(
      StreamPool.Input input, int firstPiece, int firstBlock, long address, MemorySegment target)
      throws IOException {
    int piece = firstPiece;
    int block = firstBlock;
    for (long at = address; at < address + target.byteSize(); block++) {
      if (at == pieces.get(piece).until()) {
        piece++;
      }
      LogPiece of = pieces.get(piece);
      long end = Math.min(of.until(), (at / blockBytes + 1) * blockBytes);
      int length = (int) (end - at);
      int stored = offsets[block + 1] - offsets[block];
      if (!input.read(stored, target.asSlice(at - address, length))) {
        throw new Corrupt(
            "a compressed block of the log is not what was written: "
                + place(at)
                + ", address="
                + at
                + ", bytes="
                + stored);
      }
      at = end;
    }
  }

  /** The index of the piece that has an address. */
  private int piece(long address) {
    int low = 0;
    int high = pieces.size() - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (pieces.get(middle).until() <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The index of the block that has an address of a piece. */
  private int block(int piece, long address) {
    return firsts[piece] + (int) (address / blockBytes - pieces.get(piece).from() / blockBytes);
  }

  @Override
  public String place(long address) {
    return place(file.handle(), offsets[block(piece(address), address)]);
  }

  private static String place(StreamStateHandle handle, long offset) {
    return "file=" + Blocks.nameOf(handle) + ", offset=" + offset;
  }
}
