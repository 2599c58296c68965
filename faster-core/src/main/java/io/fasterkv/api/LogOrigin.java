package io.fasterkv.api;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Where the log is kept that a store begins with, before all of it is in the store's own directory:
 * some files, each with pieces of the log. The store reads a block from here when it is asked for
 * what is in it, copies all others when it is told to, and closes this when it has them, or is
 * closed itself. Nothing here may change or be deleted until then. Safe for all threads.
 */
public interface LogOrigin extends Closeable {

  /** The files, in the order of their addresses; they have all pieces from begin to end. */
  List<? extends File> files();

  /** How many threads read at a time while the index is built and the log is copied, 1 and up. */
  default int streams() {
    return 1;
  }

  /**
   * Ends all reads under way, also those that hang: each fails soon, as each later one does. Waits
   * a second or so at most.
   */
  @Override
  void close();

  /**
   * Pieces of a log that follow each other. Each piece is cut into blocks, where addresses are
   * multiples of {@link #blockBytes}: a block is what is read and checked alone.
   */
  interface File {
    /** What it has, in order and without a gap. */
    List<LogPiece> pieces();

    /** Size of a block, a power of two; the first and the last one of a piece may be shorter. */
    int blockBytes();

    /**
     * CRC32C of a block.
     *
     * @param piece which of {@link #pieces}
     * @param block which block of the piece, the first one is 0
     */
    int blockCrc(int piece, int block);

    /**
     * Whether it has what {@link io.fasterkv.StoreExport.Digest} has made of the pieces. If not,
     * all of the file is read before the store is opened.
     */
    boolean hasDigest();

    /** Reads the digest, in parts of whole entries. */
    void readDigest(DigestVisitor visitor) throws IOException;

    /**
     * Fills {@code target} with bytes of the log from an address on, which are all in this file.
     * They are not checked. A read that begins where another of the same thread has ended costs
     * least.
     */
    void read(long address, MemorySegment target) throws IOException;

    /** Names the place of an address for an error message, for example a file and an offset. */
    String place(long address);
  }

  /** Takes the parts of a digest. */
  @FunctionalInterface
  interface DigestVisitor {
    void visit(byte[] entries);
  }
}
