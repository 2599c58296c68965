package io.fasterkv.checkpoint;

import io.fasterkv.memory.BufferPool;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Scratch for {@link ParallelPieces}, a buffer for each thread: as many as there is room for, and
 * one at least. All are of one size, a page or what a disk likes to be asked for, if that is more.
 */
final class PieceBuffers implements AutoCloseable {
  private static final int REQUEST_BYTES = 1 << 20;

  private final BufferPool pool;
  private final List<MemorySegment> buffers = new ArrayList<>();

  PieceBuffers(BufferPool pool, int pageBytes) {
    this(pool, pageBytes, Math.max(pageBytes, REQUEST_BYTES), ParallelPieces.MOST_THREADS);
  }

  /**
   * @param wantedBytes the size of each, if there is room for one, and else a page
   * @param most how many
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

  /** The size of each. */
  long bytes() {
    return buffers.getFirst().byteSize();
  }

  /** A worker for each buffer. */
  List<ParallelPieces.Worker> workers(Function<MemorySegment, ParallelPieces.Worker> worker) {
    return buffers.stream().map(worker).toList();
  }

  @Override
  public void close() {
    buffers.forEach(pool::give);
    buffers.clear();
  }
}
