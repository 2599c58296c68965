package io.fasterkv.spi;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A completed version of a store, to be kept outside the store. It consists of the pieces of the
 * log and a head of some hundred bytes. A piece never changes, and later exports contain the same
 * pieces as long as they are in the log. {@link StoreImport} builds a store's directory from them.
 * Until it is closed, the export keeps its part of the log on the device, whatever compaction does.
 * Safe for all threads.
 *
 * <pre>{@code
 * try (StoreExport export = store.integration().export()) {      // on any thread; sessions continue
 *   export.awaitWritten();
 *   for (LogPiece piece : export.pieces(endOfTheLastExport)) {
 *     export.read(piece, buffer.asSlice(0, piece.bytes()));
 *     keep(piece, buffer);
 *   }
 *   keep(export.head());
 * }
 * }</pre>
 */
public interface StoreExport extends AutoCloseable {
  /** {@return the first address of the log; pieces that end there or below are not needed} */
  long beginAddress();

  /**
   * {@return the first address after the log; the new pieces of later exports start there or above}
   */
  long endAddress();

  /**
   * Waits until all bytes are on the device. Must not be called from inside an operation.
   *
   * @throws io.fasterkv.api.StoreException.DiskFull if the disk has no space for them now; the
   *     message names the file and the offset. The call may be repeated
   */
  void awaitWritten();

  /**
   * Returns the pieces that end above an address. Call {@link #awaitWritten} first. No piece
   * crosses a page boundary, and therefore none crosses a multiple of a larger power of two.
   *
   * @param from the address, for example the end of the last export
   * @return the pieces, in address order and without a gap
   */
  List<LogPiece> pieces(long from);

  /**
   * Reads a piece and verifies its checksum.
   *
   * @param piece the piece
   * @param target memory of the piece's size
   * @throws io.fasterkv.api.StoreException.Corrupt if the bytes are not those that were written;
   *     the message names the file and the offset
   */
  void read(LogPiece piece, MemorySegment target);

  /**
   * Reads a part of a piece without verifying it. Call {@link #verify} after reading all parts.
   *
   * @param address where the part starts
   * @param target memory of the part's size
   */
  void read(long address, MemorySegment target);

  /**
   * Verifies a piece that was read in parts.
   *
   * @param piece the piece
   * @param crc CRC32C of all bytes of the piece, as read
   * @throws io.fasterkv.api.StoreException.Corrupt if the bytes are not those that were written;
   *     the message names the file and the offset
   */
  void verify(LogPiece piece, int crc);

  /**
   * Links the log's segment files into a directory, or copies them if the file system has no hard
   * links. Call {@link #awaitWritten} first. The last file may grow later, beyond this version's
   * part. For stores on their own device. If a part of the log is still at its origin, it is copied
   * first.
   *
   * @param directory an existing directory
   * @throws IOException if a step fails; a {@link io.fasterkv.device.NoSpaceException} if the disk
   *     has no space for the copy
   * @see StoreImport.Target#takeSegments
   */
  void linkSegments(Path directory) throws IOException;

  /**
   * {@return whether the whole log is in the store's files, so that {@link #linkSegments} need not
   * copy from the origin first}
   */
  boolean isWhole();

  /** {@return what a recovery needs besides the log; docs/FORMAT.md shows the format} */
  byte[] head();

  /** Releases the log. */
  @Override
  void close();

  /**
   * Starts a digest of pieces that will be stored together, in the form that {@link
   * LogOrigin.File#readDigest} returns.
   *
   * @return the digest; null if the store has no scratch memory for it now
   */
  @Nullable Digest tryDigest();

  /**
   * The information about the records in some pieces that is needed to open a store before the
   * pieces themselves are copied: 24 bytes for each record. docs/FORMAT.md shows the format. For
   * one thread at a time; holds a page of scratch memory until it is closed.
   */
  interface Digest extends AutoCloseable {
    /**
     * Adds the next piece, whose bytes the caller has read with {@link StoreExport#read}.
     *
     * @param piece the piece
     * @param bytes its bytes
     * @throws IllegalArgumentException if the piece ends 32 GiB or more above the start of the
     *     first one, or if there are more than 89 million records in all; use another file and
     *     digest for the rest
     * @throws IllegalStateException if the digest is closed
     */
    void add(LogPiece piece, MemorySegment bytes);

    /**
     * Reads the next piece and adds it, like {@link #add(LogPiece, MemorySegment)}.
     *
     * @param piece the piece
     * @throws io.fasterkv.api.StoreException.Corrupt if the bytes are not those that were written;
     *     the message names the file and the offset
     */
    void add(LogPiece piece);

    /**
     * Starts another digest that shares this one's scratch memory. One thread at a time may use the
     * two. Close this one last.
     *
     * @return the new digest
     */
    Digest another();

    /** {@return the current length, in bytes} */
    int length();

    /** {@return the current content} */
    byte[] bytes();

    @Override
    void close();
  }
}
