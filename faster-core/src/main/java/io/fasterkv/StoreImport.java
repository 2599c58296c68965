package io.fasterkv;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.checkpoint.CheckpointImport;
import io.fasterkv.checkpoint.VersionHead;
import io.fasterkv.checkpoint.VersionRecords;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Rebuilds a store from the parts of a {@link StoreExport}: {@link #into} a directory, from which
 * {@link FasterStore#recover} opens the store, or record by record with {@link #records}.
 */
public final class StoreImport {
  private final VersionHead head;

  private StoreImport(VersionHead head) {
    this.head = head;
  }

  /**
   * Reads the head of an export.
   *
   * @param head the bytes that {@link StoreExport#head} returned
   * @param file where the bytes come from, for error messages
   * @return the import
   * @throws Corrupt if the bytes are not those of a head
   */
  public static StoreImport of(byte[] head, String file) {
    return new StoreImport(VersionHead.read(head, file));
  }

  /** {@return the first address of the log; pieces that end there or below are not needed} */
  public long beginAddress() {
    return head.begin();
  }

  /** {@return the first address after the log} */
  public long endAddress() {
    return head.end();
  }

  /**
   * {@return the size of a log page, in bytes; a store recovered from a directory must have the
   * same}
   */
  public int pageBytes() {
    return head.pageBytes();
  }

  /**
   * {@return the size of a segment file, in bytes; a store recovered from a directory must have the
   * same}
   */
  public long segmentBytes() {
    return head.segmentBytes();
  }

  /**
   * {@return the smallest index, in bytes, with which a store can be recovered from a directory}
   */
  public long leastIndexBytes() {
    return head.leastIndexBytes();
  }

  /** {@return the bytes of index that the exported store had in use, up to its whole index} */
  public long usedIndexBytes() {
    return head.usedIndexBytes();
  }

  /**
   * {@return whether the exported store's index was too small for its records, so that some shared
   * an entry}
   */
  public boolean hasSharedEntries() {
    return head.hasSharedEntries();
  }

  /**
   * Returns an import of the log up to an address. A store built from it has the version's content
   * once the {@link #records} from that address on are inserted into it. This does not hold if the
   * index was halved after the log had that length, because chains are then forked above the
   * address.
   *
   * @param end the end of one of the log's pieces, or its begin
   * @return the shorter import
   * @throws IllegalArgumentException if {@code end} is not between the begin and the end
   */
  public StoreImport until(long end) {
    return new StoreImport(head.until(end));
  }

  /**
   * Starts to fill a directory that contains no store.
   *
   * @param directory the directory
   * @return the target for the pieces
   * @throws BadConfig if the directory cannot be created, or contains a checkpoint
   */
  public Target into(Path directory) {
    return new Target(new CheckpointImport(directory, head));
  }

  /** A directory that is being filled. */
  public static final class Target implements AutoCloseable {
    private final CheckpointImport target;

    private Target(CheckpointImport target) {
      this.target = target;
    }

    /**
     * Writes a piece. Any thread may call this, in any order.
     *
     * @param piece the piece
     * @param bytes its bytes
     * @param place where the bytes come from, for error messages
     * @throws Corrupt if the bytes are not those of the piece
     * @throws IOException if the piece cannot be written
     */
    public void write(LogPiece piece, MemorySegment bytes, String place) throws IOException {
      target.write(piece, bytes, place);
    }

    /**
     * Takes over the files that {@link StoreExport#linkSegments} created, instead of pieces. The
     * files stay as they are. Their content is not verified here, but during recovery.
     *
     * @param directory the directory with the files
     * @param from the first address of the first piece
     * @throws IOException if a file cannot be taken over
     */
    public void takeSegments(Path directory, long from) throws IOException {
      target.takeSegments(directory, from);
    }

    /**
     * Completes the directory, so that a store can be recovered from it. The pieces are not forced
     * to disk: after a power failure their checksums may be wrong. The first checkpoint of the
     * recovered store forces the pieces that it needs.
     *
     * @param pieces all pieces from the begin to the end, in order; those below the begin are left
     *     out
     * @return the checkpoint to recover from
     * @throws Corrupt if a piece is missing
     * @throws IOException if the directory cannot be completed
     */
    public CheckpointToken finish(List<LogPiece> pieces) throws IOException {
      return target.finish(pieces);
    }

    @Override
    public void close() throws IOException {
      target.close();
    }
  }

  /**
   * Reads the records, for callers that already have a store.
   *
   * @return the reader
   */
  public Records records() {
    return new Records(new VersionRecords(head));
  }

  /** Receives records. */
  public interface Visitor {
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
  public static final class Records {
    private final VersionRecords records;

    private Records(VersionRecords records) {
      this.records = records;
    }

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
    public void read(LogPiece piece, MemorySegment bytes, String place, Visitor visitor) {
      records.read(piece, bytes, place, visitor::visit);
    }
  }
}
