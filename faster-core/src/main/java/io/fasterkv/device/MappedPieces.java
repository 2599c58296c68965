package io.fasterkv.device;

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
 * Segment files as memory, for short reads of what the system has in its page cache: they take a
 * tenth of the time of a system call. A piece is mapped by the first read of it that finds all of
 * it in its file, and until its segment is removed; the kernel is told not to read ahead. What is
 * not mapped, or cannot be read that way, is for the caller to read from the file, who then learns
 * why. Safe for all threads.
 *
 * <p>Mapped pages belong to the system's page cache, as those of other reads do. What they take
 * beside it are 8 bytes for each 4 KiB, so the pieces that are mapped at a time are limited.
 */
final class MappedPieces implements AutoCloseable {
  /** Longer reads gain more from reading ahead. */
  static final int MOST_BYTES = 4096;

  private static final int MOST_PIECES = 256;

  /** Of all stores in this process: systems allow some 65,000 mappings, and threads need some. */
  private static final int MOST_IN_ALL = 16_384;

  private static final AtomicInteger IN_ALL = new AtomicInteger();
  private static final long LEAST_PIECE_BYTES = 1L << 20;

  private final long segmentBytes;
  private final long pieceBytes;
  private final LongFunction<Path> paths;
  private final SystemCalls system = new SystemCalls();

  /** By the low bits of their numbers: those of a log that is not too long are all different. */
  private final AtomicReferenceArray<@Nullable Piece> pieces;

  private long removedUntil;

  /** Nothing more is mapped: that failed once, or this is closed. */
  private volatile boolean isRefusing;

  private boolean isClosed;

  /** The memory is empty if not all of the piece has been written, or too much is mapped. */
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
   * @param mostBytes how much is mapped at a time, at least a mebibyte
   * @param paths where the segment of a number is
   */
  MappedPieces(long segmentBytes, long mostBytes, LongFunction<Path> paths) {
    this.segmentBytes = segmentBytes;
    this.paths = paths;
    long wanted = Math.max(LEAST_PIECE_BYTES, Long.highestOneBit(mostBytes / MOST_PIECES));
    pieceBytes = Math.min(segmentBytes, wanted);
    long count = Math.clamp(mostBytes / pieceBytes, 1, MOST_PIECES);
    pieces = new AtomicReferenceArray<>((int) Long.highestOneBit(count));
  }

  /** Whether this JVM can map the files of a directory as this class does. */
  static boolean isPossible(Path directory) {
    return SystemCalls.isGranted() && directory.getFileSystem().equals(FileSystems.getDefault());
  }

  /** Fills {@code target} from {@code address} on; false if that is left to the caller. */
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
      // A page that cannot be read makes compiled code throw at its next safepoint only: here.
      Thread.holdsLock(pieces);
      return true;
    } catch (IllegalStateException | InternalError e) {
      // It was unmapped meanwhile, or the system could not read it.
      return false;
    }
  }

  /** Whether a short read at {@code address} is likely to be of memory, by now or by that read. */
  boolean isMappable(long address) {
    long number = address / pieceBytes;
    Piece piece = pieces.getAcquire(slot(number));
    return piece == null ? !isRefusing : piece.number == number && piece.file != null;
  }

  /** From {@code address} to {@code end} all is in the file now. */
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

  /** Unmaps what lies below {@code address}, the end of a segment; its file may then be removed. */
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
    // An interrupt would close the file; who has it reads without.
    boolean mayMap = !isRefusing && !Thread.currentThread().isInterrupted();
    if (there != null || !mayMap || number < removedUntil) {
      return there;
    }
    Piece piece = mapNow(number);
    pieces.setRelease(slot(number), piece);
    return piece;
  }

  /**
   * Opened for writing, too: so it is the file that is written to, also where layers are copied.
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
      // Where one cannot be mapped, most cannot.
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
