package io.fasterkv.checkpoint;

import io.fasterkv.device.DurableFiles;
import io.fasterkv.device.Transfers;
import io.fasterkv.device.UncachedFiles;
import io.fasterkv.device.Uninterrupted;
import io.fasterkv.memory.BufferPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A new file that is written from its begin to its end: one buffer is filled while a thread beside
 * writes the others, past the page cache where the file system allows it. What a write throws is
 * not lost: a later {@link #turn}, or {@link #finish}, throws it. Used by one thread.
 */
final class SequentialFile implements AutoCloseable {
  /** How much may be in the page cache before it is forced, so that the disk never stands still. */
  private static final long UNFORCED_BYTES = 8L << 20;

  private static final int MOST_BUFFERS = 4;

  private final Path file;
  private final BufferPool pool;
  private final List<MemorySegment> buffers = new ArrayList<>();

  /** For each buffer the last write of it. */
  private final List<CompletableFuture<Void>> writes = new ArrayList<>();

  private final FileChannel cached;
  private final @Nullable FileChannel direct;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("faster-checkpoint-write").factory());
  private List<MemorySegment> added = new ArrayList<>();
  private long addedFrom;
  private long position;
  private int turns;

  /** Bytes in the page cache that were not forced; the writer's. */
  private long unforced;

  /**
   * @param uncached opens the file past the page cache as well, if it can
   * @param bufferBytes taken of {@code pool}, up to four times as long as half of the pool stays
   *     free
   */
  SequentialFile(Path file, UncachedFiles uncached, BufferPool pool, int bufferBytes)
      throws IOException {
    this.file = file;
    this.pool = pool;
    addBuffer(pool.take(bufferBytes));
    try {
      takeMore(bufferBytes);
      Files.deleteIfExists(file);
      cached = DurableFiles.openReadWrite(file);
      direct = open(file, uncached);
    } catch (IOException | RuntimeException | Error e) {
      writer.shutdown();
      buffers.forEach(pool::give);
      throw e;
    }
  }

  private void takeMore(int bufferBytes) {
    while (buffers.size() < MOST_BUFFERS && pool.leavesHalf(bufferBytes)) {
      MemorySegment more = pool.tryTake(bufferBytes);
      if (more == null) {
        return;
      }
      addBuffer(more);
    }
  }

  private void addBuffer(MemorySegment buffer) {
    buffers.add(buffer);
    writes.add(CompletableFuture.completedFuture(null));
  }

  private @Nullable FileChannel open(Path file, UncachedFiles uncached) throws IOException {
    try {
      return uncached.open(file);
    } catch (IOException | RuntimeException | Error e) {
      cached.close();
      throw e;
    }
  }

  /** What to fill now, until the next {@link #turn}; at least as large as was asked for. */
  MemorySegment buffer() {
    return buffers.get(turns % buffers.size());
  }

  /** Where the next bytes go to. */
  long position() {
    return position;
  }

  /**
   * Adds bytes of the buffer to the file. They are left alone until {@link #buffer} is it again.
   */
  void add(MemorySegment bytes) {
    added.add(bytes);
    position += bytes.byteSize();
  }

  /** Begins to write what was added, and turns to the next buffer when that has been written. */
  void turn() throws IOException {
    List<MemorySegment> pieces = added;
    long from = addedFrom;
    added = new ArrayList<>();
    addedFrom = position;
    writes.set(
        turns % buffers.size(), CompletableFuture.runAsync(() -> write(pieces, from), writer));
    turns++;
    Uninterrupted.await(writes.get(turns % buffers.size()));
  }

  /** Writes the rest; returns when all is durable. */
  void finish() throws IOException {
    turn();
    for (CompletableFuture<Void> write : writes) {
      Uninterrupted.await(write);
    }
    // Not by the caller, who may be interrupted: that would close the file.
    Uninterrupted.await(CompletableFuture.runAsync(this::force, writer));
  }

  private void force() {
    try {
      cached.force(true);
    } catch (IOException e) {
      throw new UncheckedIOException(
          new IOException("file=" + file + ", cause=" + e.getMessage(), e));
    }
  }

  private void write(List<MemorySegment> pieces, long from) {
    try {
      long at = from;
      for (MemorySegment piece : pieces) {
        write(piece, at);
        at += piece.byteSize();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          new IOException("file=" + file + ", offset>=" + from + ", cause=" + e.getMessage(), e));
    }
  }

  private void write(MemorySegment piece, long at) throws IOException {
    if (direct != null && UncachedFiles.isAligned(at, piece)) {
      Transfers.writeFully(direct, piece, at);
      return;
    }
    Transfers.writeFully(cached, piece, at);
    unforced += piece.byteSize();
    if (unforced >= UNFORCED_BYTES) {
      cached.force(false);
      unforced = 0;
    }
  }

  /** Waits for what is being written; the file stays as it is. */
  @Override
  public void close() throws IOException {
    // This comes first, so that the thread ends even if the rest fails; it still writes the buffers
    // it was given.
    writer.shutdown();
    writes.forEach(write -> write.handle((done, failure) -> done).join());
    buffers.forEach(pool::give);
    try (cached) {
      if (direct != null) {
        direct.close();
      }
    }
  }
}
