package io.fasterkv.spi;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Provides a store's initial log while it is not in the store's own directory yet: a number of
 * files, each with pieces of the log. The store reads single blocks from here as operations need
 * them, and copies all others after {@link StoreIntegration#copyOrigin}. It closes the origin when
 * it has copied everything, or when the store itself is closed. Until then no file may change or be
 * deleted. Safe for all threads.
 */
public interface LogOrigin extends Closeable {

  /**
   * {@return the files in address order; together they contain all pieces from the begin address to
   * the end of the log}
   */
  List<? extends File> files();

  /**
   * {@return how many threads may read at a time while the index is built and the log is copied, 1
   * or more}
   */
  default int streams() {
    return 1;
  }

  /**
   * Aborts all reads in progress, including those that hang: each fails soon, and each later read
   * fails too. Waits about a second at most.
   */
  @Override
  void close();

  /**
   * A file with consecutive pieces of the log. Each piece is divided into blocks at the addresses
   * that are multiples of {@link #blockBytes}. A block is the unit that is read and verified alone.
   */
  interface File {
    /** {@return the pieces in this file, in address order and without a gap} */
    List<LogPiece> pieces();

    /**
     * {@return the size of a block in bytes, a power of two; the first and the last block of a
     * piece may be shorter}
     */
    int blockBytes();

    /**
     * Returns the checksum of a block.
     *
     * @param piece position in {@link #pieces}, from 0
     * @param block position of the block in the piece, from 0
     * @return the block's CRC32C
     */
    int blockCrc(int piece, int block);

    /**
     * {@return whether the file has the {@link StoreExport.Digest} of its pieces; if not, the whole
     * file is read before the store opens}
     */
    boolean hasDigest();

    /**
     * Reads the digest in parts; each part consists of whole entries.
     *
     * @param visitor receives the parts in order
     * @throws IOException if the read fails
     */
    void readDigest(DigestVisitor visitor) throws IOException;

    /**
     * Announces that all of this file will be read. An origin that copies whole files faster than
     * it reads ranges may copy the file now, and serve later reads from the copy. May block; ends
     * when the origin is closed. Called by several threads, and more than once.
     */
    default void prepare() {}

    /**
     * Reads bytes of the log without verifying them. A read that starts where the same thread's
     * previous read ended is the cheapest.
     *
     * @param address first address to read; the whole range is in this file
     * @param target filled completely
     * @throws IOException if the read fails
     */
    void read(long address, MemorySegment target) throws IOException;

    /**
     * Names the location of an address for an error message, for example a file and an offset.
     *
     * @param address an address in this file
     * @return the location, as text
     */
    String place(long address);
  }

  /** Receives the parts of a digest. */
  @FunctionalInterface
  interface DigestVisitor {
    /**
     * Handles one part of a digest.
     *
     * @param entries whole entries, in the format of docs/FORMAT.md
     */
    void visit(byte[] entries);
  }
}
