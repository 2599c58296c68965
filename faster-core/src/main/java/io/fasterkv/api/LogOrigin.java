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

  /** How many threads read at a time while the index is built and the log is copied, at least 1. */
  default int streams() {
    return 1;
  }

  /**
   * Ends all running reads, even those that hang: they fail soon, and so does each later read.
   * Waits about a second at most.
   */
  @Override
  void close();

  /**
   * Consecutive pieces of a log. Each piece is divided into blocks at addresses that are multiples
   * of {@link #blockBytes}. A block is the unit of reading and checking.
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
     * Whether the file has the {@link io.fasterkv.StoreExport.Digest} of its pieces. If not, the
     * store reads the whole file before it opens.
     */
    boolean hasDigest();

    /** Reads the digest, in parts of whole entries. */
    void readDigest(DigestVisitor visitor) throws IOException;

    /**
     * Fills {@code target} with bytes of the log from an address on. The caller makes sure that all
     * of them are in this file. This does not check them. A read that begins where the thread's
     * previous one ended is cheapest.
     */
    void read(long address, MemorySegment target) throws IOException;

    /**
     * Describes where an address is stored, for an error message: for example a file and an offset.
     */
    String place(long address);
  }

  /** Receives the parts of a digest. */
  @FunctionalInterface
  interface DigestVisitor {
    void visit(byte[] entries);
  }
}
