package io.fasterkv.checkpoint.recover;

import io.fasterkv.memory.BufferPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Scratch buffers for {@link ParallelPieces}, one for each thread: as many as there is room for,
 * and at least one. All have the same size: a page, or if larger the size at which disks read
 * efficiently.
 */
final class PieceBuffers implements AutoCloseable {
  private static final int REQUEST_BYTES = 1 << 20;

  private final BufferPool pool;
  private final List<MemorySegment> buffers = new ArrayList<>();

  PieceBuffers(BufferPool pool, int pageBytes) {
    this(pool, pageBytes, Math.max(pageBytes, REQUEST_BYTES), ParallelPieces.MOST_THREADS);
  }

  /**
   * @param wantedBytes size of each buffer if there is room for one, otherwise a page
   * @param most maximum number of buffers
   */
  PieceBuffers(BufferPool pool, int pageBytes, int wantedBytes, int most) {
    this.pool = pool;
    int bytes = wantedBytes;
    @Nullable MemorySegment buffer = pool.tryTake(bytes);
    if (buffer == null) {
      bytes = pageBytes;
      buffer = pool.take(bytes);
    }
    while (buffer != null) {
      buffers.add(buffer);
      buffer = buffers.size() < most ? pool.tryTake(bytes) : null;
    }
  }

  /** Size of each buffer. */
  long bytes() {
    return buffers.getFirst().byteSize();
  }

  /** Number of buffers. */
  int count() {
    return buffers.size();
  }

  /** Creates a worker for each buffer. */
  List<ParallelPieces.Worker> workers(Function<MemorySegment, ParallelPieces.Worker> worker) {
    return buffers.stream().map(worker).toList();
  }

  @Override
  public void close() {
    buffers.forEach(pool::give);
    buffers.clear();
  }
}
