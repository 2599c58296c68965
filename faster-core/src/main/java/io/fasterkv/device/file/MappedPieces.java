package io.fasterkv.device.file;

import io.fasterkv.memory.MappedFile;
import io.fasterkv.memory.SystemCalls;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Maps segment files into memory, for short reads of data that is in the system's page cache. Such
 * a read takes a tenth of the time of a system call. A piece is mapped by the first read that finds
 * it completely written, and stays mapped until its segment is removed. The kernel does not read
 * ahead in it. If a piece is not mapped or cannot be read in this way, the caller reads from the
 * file, which reports the reason. Safe for all threads.
 *
 * <p>Mapped pages belong to the system's page cache, like those of other reads. They need another 8
 * bytes for each 4 KiB, so the number of pieces mapped at a time is limited.
 */
final class MappedPieces implements AutoCloseable {
  /** Longer reads gain more from read-ahead. */
  static final int MOST_BYTES = 4096;

  /** The number of pieces in a store that keeps the memory it opened with. */
  private static final int USUAL_PIECES = 256;

  private static final int MOST_PIECES = 1024;

  /**
   * For all stores of this process: systems allow about 65,000 mappings, and threads need some of
   * them.
   */
  private static final int MOST_IN_ALL = 16_384;

  private static final AtomicInteger IN_ALL = new AtomicInteger();
  private static final long LEAST_PIECE_BYTES = 1L << 20;

  private final long segmentBytes;
  private final long pieceBytes;
  private final LongFunction<Path> paths;
  private final SystemCalls system = new SystemCalls();

  /**
   * Indexed by the low bits of the piece numbers, which are distinct unless the log is too long.
   */
  private final AtomicReferenceArray<@Nullable Piece> pieces;

  private long removedUntil;

  /** No further piece is mapped, because mapping failed once or this object is closed. */
  private volatile boolean isRefusing;

  private boolean isClosed;

  /** The memory is empty if the piece is not completely written, or if too much is mapped. */
  private record Piece(long number, @Nullable MappedFile file, MemorySegment memory) {
    static Piece unmapped(long number) {
      return new Piece(number, null, MemorySegment.NULL);
    }

    void unmap() {
      if (file != null) {
        file.close();
        IN_ALL.decrementAndGet();
      }
    }
  }

  /**
   * @param usualBytes how much is mapped in a store that keeps its memory
   * @param mostBytes how much is mapped at a time, at least 1 MiB
   * @param paths returns the file of a segment number
   */
  MappedPieces(long segmentBytes, long usualBytes, long mostBytes, LongFunction<Path> paths) {
    this.segmentBytes = segmentBytes;
    this.paths = paths;
    long wanted = Math.max(LEAST_PIECE_BYTES, Long.highestOneBit(usualBytes / USUAL_PIECES));
    pieceBytes = Math.min(segmentBytes, wanted);
    long count = Math.clamp(mostBytes / pieceBytes, 1, MOST_PIECES);
    pieces = new AtomicReferenceArray<>((int) Long.highestOneBit(count));
  }

  /** Whether this JVM can map the files of a directory. */
  static boolean isPossible(Path directory) {
    return SystemCalls.isGranted() && directory.getFileSystem().equals(FileSystems.getDefault());
  }

  /**
   * Fills {@code target} from {@code address} on; returns false if the caller must read the file
   * instead.
   */
  boolean read(long address, MemorySegment target) {
    long bytes = target.byteSize();
    if (bytes > MOST_BYTES) {
      return false;
    }
    long number = address / pieceBytes;
    Piece piece = pieces.getAcquire(slot(number));
    if (piece == null && !isRefusing) {
      piece = map(number);
    }
    long offset = address % pieceBytes;
    if (piece == null || piece.number != number || offset + bytes > piece.memory.byteSize()) {
      return false;
    }
    try {
      MemorySegment.copy(piece.memory, offset, target, 0, bytes);
      // If a page cannot be read, compiled code throws only at its next safepoint: here.
      Thread.holdsLock(pieces);
      return true;
    } catch (IllegalStateException | InternalError e) {
      // It was unmapped in the meantime, or the system could not read it.
      return false;
    }
  }

  /**
   * Whether a short read at {@code address} probably reads memory, already mapped or mapped by that
   * read.
   */
  boolean isMappable(long address) {
    long number = address / pieceBytes;
    Piece piece = pieces.getAcquire(slot(number));
    return piece == null ? !isRefusing : piece.number == number && piece.file != null;
  }

  /** All bytes from {@code address} to {@code end} are in the file now. */
  void written(long address, long end) {
    if (address / pieceBytes < end / pieceBytes) {
      forgetUnmapped(address / pieceBytes, end / pieceBytes);
    }
  }

  private synchronized void forgetUnmapped(long from, long until) {
    for (long number = from; number < until; number++) {
      Piece piece = pieces.get(slot(number));
      if (piece != null && piece.number == number && piece.file == null) {
        pieces.set(slot(number), null);
      }
    }
  }

  /** How many pieces all stores of this process have mapped. */
  static int mappedInAll() {
    return IN_ALL.get();
  }

  /**
   * Unmaps everything below {@code address}, the end of a segment; its file may then be removed.
   */
  void truncate(long address) {
    takeOut(address / pieceBytes).forEach(Piece::unmap);
  }

  private synchronized List<Piece> takeOut(long until) {
    removedUntil = Math.max(removedUntil, until);
    List<Piece> removed = new ArrayList<>();
    for (int slot = 0; slot < pieces.length(); slot++) {
      Piece piece = pieces.get(slot);
      if (piece != null && piece.number < removedUntil) {
        pieces.set(slot, null);
        removed.add(piece);
      }
    }
    return removed;
  }

  @Override
  public void close() {
    isRefusing = true;
    truncate(Long.MAX_VALUE);
    synchronized (this) {
      if (!isClosed) {
        isClosed = true;
        system.close();
      }
    }
  }

  private synchronized @Nullable Piece map(long number) {
    Piece there = pieces.get(slot(number));
    // An interrupt would close the file; an interrupted thread reads without a mapping.
    boolean mayMap = !isRefusing && !Thread.currentThread().isInterrupted();
    if (there != null || !mayMap || number < removedUntil) {
      return there;
    }
    Piece piece = mapNow(number);
    pieces.setRelease(slot(number), piece);
    return piece;
  }

  /**
   * Opens the file also for writing: on a file system that copies layers, this opens the file that
   * is written to.
   */
  private @Nullable Piece mapNow(long number) {
    long address = number * pieceBytes;
    try (FileChannel file = DurableFiles.openExisting(paths.apply(address / segmentBytes))) {
      long offset = address % segmentBytes;
      if (file.size() < offset + pieceBytes) {
        return Piece.unmapped(number);
      }
      return mapped(number, file, offset);
    } catch (NoSuchFileException | ClosedByInterruptException e) {
      return null;
    } catch (IOException | UnsupportedOperationException e) {
      // If one piece cannot be mapped, most others cannot either.
      isRefusing = true;
      return null;
    }
  }

  private @Nullable Piece mapped(long number, FileChannel file, long offset) throws IOException {
    if (IN_ALL.incrementAndGet() > MOST_IN_ALL) {
      IN_ALL.decrementAndGet();
      return Piece.unmapped(number);
    }
    MappedFile mapped = null;
    try {
      mapped = MappedFile.map(file, offset, pieceBytes, system);
      if (mapped == null) {
        isRefusing = true;
        return null;
      }
      return new Piece(number, mapped, mapped.memory());
    } finally {
      if (mapped == null) {
        IN_ALL.decrementAndGet();
      }
    }
  }

  private int slot(long number) {
    return (int) number & (pieces.length() - 1);
  }
}
