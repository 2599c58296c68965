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
 * What was kept of a {@link StoreExport}, to be made a store again: {@link #into} a directory, from
 * which {@link FasterStore#recover} goes on, or record by record with {@link #records}.
 */
public final class StoreImport {
  private final VersionHead head;

  private StoreImport(VersionHead head) {
    this.head = head;
  }

  /**
   * Begins with the head.
   *
   * @param file where the bytes come from, for error messages
   * @throws Corrupt if they are not what {@link StoreExport#head} has returned
   */
  public static StoreImport of(byte[] head, String file) {
    return new StoreImport(VersionHead.read(head, file));
  }

  /** The first address of the log: pieces that end there or below are not wanted. */
  public long beginAddress() {
    return head.begin();
  }

  /** The first address after the log. */
  public long endAddress() {
    return head.end();
  }

  /** Size of a log page; a store that is recovered from a directory must have the same. */
  public int pageBytes() {
    return head.pageBytes();
  }

  /** Size of a segment file; a store that is recovered from a directory must have the same. */
  public long segmentBytes() {
    return head.segmentBytes();
  }

  /** Bytes of index that a store must have at least to be recovered from a directory. */
  public long leastIndexBytes() {
    return head.leastIndexBytes();
  }

  /** Bytes of index that the exported store had in use; up to all it had. */
  public long usedIndexBytes() {
    return head.usedIndexBytes();
  }

  /** Whether its index was too small for its records, so that some shared an entry. */
  public boolean hasSharedEntries() {
    return head.hasSharedEntries();
  }

  /**
   * The log up to an address. A store that is made of it has what the version had when {@link
   * #records}, from that address on, are put into it; not if the index was halved since the log was
   * that long, for chains are forked behind it then.
   *
   * @param end where one of its pieces ends, or its begin
   * @throws IllegalArgumentException if that is not between its begin and its end
   */
  public StoreImport until(long end) {
    return new StoreImport(head.until(end));
  }

  /**
   * Begins to fill a directory that holds no store.
   *
   * @throws BadConfig if it cannot be made, or holds a checkpoint
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
     * Writes a piece; any thread, in any order.
     *
     * @param place where the bytes come from, for error messages
     * @throws Corrupt if they are not those of the piece
     */
    public void write(LogPiece piece, MemorySegment bytes, String place) throws IOException {
      target.write(piece, bytes, place);
    }

    /**
     * Takes over the files that {@link StoreExport#linkSegments} has made, instead of pieces; they
     * stay as they are. What they have is not looked at: a recovery verifies it.
     *
     * @param from the first address of the first piece
     */
    public void takeSegments(Path directory, long from) throws IOException {
      target.takeSegments(directory, from);
    }

    /**
     * Makes the directory one that a store can be recovered from. The pieces are not forced to
     * disk: after a power cut their checksums may be wrong. The first checkpoint of a store that is
     * recovered from it forces what it needs of them.
     *
     * @param pieces all from the begin to the end, in order; what lies below the begin is left out
     * @throws Corrupt if one is missing
     */
    public CheckpointToken finish(List<LogPiece> pieces) throws IOException {
      return target.finish(pieces);
    }

    @Override
    public void close() throws IOException {
      target.close();
    }
  }

  /** Goes over the records, for who has a store already. */
  public Records records() {
    return new Records(new VersionRecords(head));
  }

  /** Takes records. */
  public interface Visitor {
    /**
     * Of several records with one key the last one counts. The spans are valid until it returns.
     */
    void visit(ByteSpan key, ByteSpan value, boolean isTombstone);
  }

  /** The records of a log in the order of their addresses. For one thread. */
  public static final class Records {
    private final VersionRecords records;

    private Records(VersionRecords records) {
      this.records = records;
    }

    /**
     * Goes over the next piece; the first may be any.
     *
     * @param place where the bytes come from, for error messages
     * @throws Corrupt if they are not those of the piece
     * @throws BadConfig if it has a delta, or a value larger than a page
     */
    public void read(LogPiece piece, MemorySegment bytes, String place, Visitor visitor) {
      records.read(piece, bytes, place, visitor::visit);
    }
  }
}
