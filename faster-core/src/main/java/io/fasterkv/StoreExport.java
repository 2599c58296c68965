package io.fasterkv;

import io.fasterkv.api.LogPiece;
import io.fasterkv.checkpoint.RecordDigest;
import io.fasterkv.checkpoint.VersionExport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A version of a store that is over, for who keeps it somewhere else: the pieces of its log, which
 * never change and are the same in later exports as long as they are in the log, and a head of some
 * hundred bytes. {@link StoreImport} makes a store's directory of them. Keeps what it is made of on
 * the device until it is closed, whatever compaction does. Safe for all threads.
 *
 * <pre>{@code
 * try (StoreExport export = store.export()) {      // on any thread; sessions go on
 *   export.awaitWritten();
 *   for (LogPiece piece : export.pieces(endOfTheLastExport)) {
 *     export.read(piece, buffer.asSlice(0, piece.bytes()));
 *     keep(piece, buffer);
 *   }
 *   keep(export.head());
 * }
 * }</pre>
 */
public final class StoreExport implements AutoCloseable {
  private final VersionExport export;

  StoreExport(VersionExport export) {
    this.export = export;
  }

  /** The first address of the log: pieces that end there or below are not needed. */
  public long beginAddress() {
    return export.begin();
  }

  /** The first address after the log; the pieces of later exports begin there or above. */
  public long endAddress() {
    return export.end();
  }

  /**
   * Waits until the device has all bytes; must not be called from inside an operation.
   *
   * @throws io.fasterkv.api.StoreException.DiskFull if the disk has no space for them now; the
   *     message names the file and the offset. May be called again
   */
  public void awaitWritten() {
    export.awaitWritten();
  }

  /**
   * The pieces that end above {@code from}, in order and without a gap; {@link #awaitWritten} has
   * returned. None crosses a page, and so none a multiple of a larger power of two.
   */
  public List<LogPiece> pieces(long from) {
    return export.pieces(from);
  }

  /**
   * Reads a piece into memory of its size.
   *
   * @throws io.fasterkv.api.StoreException.Corrupt if it is damaged; the message names the file and
   *     the offset
   */
  public void read(LogPiece piece, MemorySegment target) {
    export.read(piece, target);
  }

  /**
   * Reads a part of a piece into memory of the part's size. This does not verify the part; call
   * {@link #verify} when all parts are read.
   *
   * @param address where the part begins
   */
  public void read(long address, MemorySegment target) {
    export.read(address, target);
  }

  /**
   * Compares a piece that was read part by part with what the store wrote.
   *
   * @param crc CRC32C of all of its bytes
   * @throws io.fasterkv.api.StoreException.Corrupt if it is damaged; the message names the file and
   *     the offset
   */
  public void verify(LogPiece piece, int crc) {
    export.verify(piece, crc);
  }

  /**
   * Gives the log's segment files second names in a directory, which is there, or copies them if
   * the file system cannot do that; {@link #awaitWritten} has returned. The last file may grow
   * after that, behind what is this version's. For stores on their own device. What is still where
   * the log came from is copied first.
   *
   * @throws IOException if something of that fails; a {@link io.fasterkv.device.NoSpaceException}
   *     if the disk has no space for the copy
   * @see StoreImport.Target#takeSegments
   */
  public void linkSegments(Path directory) throws IOException {
    export.linkSegments(directory);
  }

  /** Whether all of the log is here, so that {@link #linkSegments} copies nothing first. */
  public boolean isWhole() {
    return export.isWhole();
  }

  /** What a recovery has to know besides the log; docs/FORMAT.md draws it. */
  public byte[] head() {
    return export.head();
  }

  /** Lets go of the log. */
  @Override
  public void close() {
    export.close();
  }

  /**
   * Begins a digest of pieces that will be kept together, as {@link
   * io.fasterkv.api.LogOrigin.File#digest} wants it; null if the store has no scratch memory for it
   * now.
   */
  public @Nullable Digest tryDigest() {
    MemorySegment page = export.tryTakePage();
    return page == null ? null : new Digest(export, page, true);
  }

  /**
   * What is needed of the records in some pieces to open a store before their bytes are there; 24
   * bytes for each record. docs/FORMAT.md draws it. For one thread at a time; holds a page of
   * scratch memory until it is closed.
   */
  public static final class Digest implements AutoCloseable {
    private final VersionExport export;
    private final MemorySegment page;
    private final boolean ownsPage;
    private final RecordDigest digest;
    private boolean isClosed;

    private Digest(VersionExport export, MemorySegment page, boolean ownsPage) {
      this.export = export;
      this.page = page;
      this.ownsPage = ownsPage;
      digest = export.newDigest();
    }

    /**
     * Adds the next piece, which {@link StoreExport#read} has given.
     *
     * @throws IllegalArgumentException if the piece ends 32 GiB or more above where the first one
     *     begins, or all have more than 89 million records: they want another file and digest
     * @throws IllegalStateException if it is closed
     */
    public void add(LogPiece piece, MemorySegment bytes) {
      checkOpen(piece);
      page.asSlice(0, piece.bytes()).copyFrom(bytes);
      addPage(piece);
    }

    /**
     * Reads the next piece and adds it, as the other method does.
     *
     * @throws io.fasterkv.api.StoreException.Corrupt if it is damaged; the message names the file
     *     and the offset
     */
    public void add(LogPiece piece) {
      checkOpen(piece);
      export.read(piece, page.asSlice(0, piece.bytes()));
      addPage(piece);
    }

    /**
     * Begins another digest, which shares this one's scratch memory. Only one thread at a time may
     * use either. Close this one last.
     */
    public Digest another() {
      return new Digest(export, page, false);
    }

    private void checkOpen(LogPiece piece) {
      if (isClosed) {
        throw new IllegalStateException("the digest is closed: piece=" + piece);
      }
    }

    private void addPage(LogPiece piece) {
      MemorySegment aligned = page.asSlice(0, piece.bytes());
      digest.add(piece.from(), aligned, address -> "piece=" + piece + ", address=" + address);
    }

    /** How many bytes it has by now. */
    public int length() {
      return digest.length();
    }

    /** What it has. */
    public byte[] bytes() {
      return digest.bytes();
    }

    @Override
    public void close() {
      if (!isClosed && ownsPage) {
        export.givePage(page);
      }
      isClosed = true;
    }
  }
}
