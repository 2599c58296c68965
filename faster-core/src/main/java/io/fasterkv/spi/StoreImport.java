package io.fasterkv.spi;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Rebuilds a store from the parts of a {@link StoreExport}: {@link #into} a directory, from which
 * {@link io.fasterkv.FasterStore#recover} opens the store, or record by record with {@link
 * #records}.
 */
public interface StoreImport {
  /** {@return the first address of the log; pieces that end there or below are not needed} */
  long beginAddress();

  /** {@return the first address after the log} */
  long endAddress();

  /**
   * {@return the size of a log page, in bytes; a store recovered from a directory must have the
   * same}
   */
  int pageBytes();

  /**
   * {@return the size of a segment file, in bytes; a store recovered from a directory must have the
   * same}
   */
  long segmentBytes();

  /**
   * {@return the smallest index, in bytes, with which a store can be recovered from a directory}
   */
  long leastIndexBytes();

  /** {@return the bytes of index that the exported store had in use, up to its whole index} */
  long usedIndexBytes();

  /**
   * {@return whether the exported store's index was too small for its records, so that some shared
   * an entry}
   */
  boolean hasSharedEntries();

  /**
   * Returns an import of the log up to an address. A store built from it has the version's content
   * once the {@link #records} from that address on are inserted into it. This does not hold if the
   * index was halved after the log had that length, because chains may then be forked above the
   * address.
   *
   * @param end the end of one of the log's pieces, or its begin
   * @return the shorter import
   * @throws IllegalArgumentException if {@code end} is not between the begin address and the end
   */
  StoreImport until(long end);

  /**
   * Starts to fill a directory that contains no store.
   *
   * @param directory the directory
   * @return the target for the pieces
   * @throws BadConfig if the directory cannot be created, or contains a checkpoint
   */
  Target into(Path directory);

  /** A directory that is being filled. */
  interface Target extends AutoCloseable {
    /**
     * Writes a piece. Any thread may call this, in any order.
     *
     * @param piece the piece
     * @param bytes its bytes
     * @param place where the bytes come from, for error messages
     * @throws Corrupt if the bytes are not those of the piece
     * @throws IOException if the piece cannot be written
     */
    void write(LogPiece piece, MemorySegment bytes, String place) throws IOException;

    /**
     * Adds the files that {@link StoreExport#linkSegments} created, instead of pieces. They are
     * linked or copied; the originals do not change. Recovery verifies their content, not this.
     *
     * @param directory the directory with the files
     * @param from the first address of the first piece
     * @throws IOException if a file cannot be taken over
     */
    void takeSegments(Path directory, long from) throws IOException;

    /**
     * Completes the directory, so that a store can be recovered from it. The pieces are not forced
     * to disk: after a power failure their checksums may be wrong. The first checkpoint of the
     * recovered store forces the pieces that it needs.
     *
     * @param pieces all pieces from the begin address to the end, in order; those below the begin
     *     address are left out
     * @throws Corrupt if a piece is missing
     * @throws IOException if the directory cannot be completed
     */
    void finish(List<LogPiece> pieces) throws IOException;

    @Override
    void close() throws IOException;
  }

  /**
   * Reads the records, for callers that already have a store.
   *
   * @return the reader
   */
  Records records();

  /** Receives records. */
  interface Visitor {
    /**
     * Handles one record. Of several records with one key, the last one counts.
     *
     * @param key the key; valid only during the call
     * @param value the value; valid only during the call
     * @param isTombstone whether the record deletes the key
     */
    void visit(ByteSpan key, ByteSpan value, boolean isTombstone);
  }

  /** Reads the records of a log in address order. For one thread. */
  interface Records {
    /**
     * Reads the records of the next piece; the first piece may be any.
     *
     * @param piece the piece
     * @param bytes its bytes
     * @param place where the bytes come from, for error messages
     * @param visitor receives the records
     * @throws Corrupt if the bytes are not those of the piece
     * @throws BadConfig if it contains a delta, or a value larger than a page
     */
    void read(LogPiece piece, MemorySegment bytes, String place, Visitor visitor);
  }
}
