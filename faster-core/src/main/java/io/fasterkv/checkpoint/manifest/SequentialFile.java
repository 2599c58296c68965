package io.fasterkv.checkpoint.manifest;

import io.fasterkv.device.file.AwaitedTransfer;
import io.fasterkv.device.file.DurableFiles;
import io.fasterkv.device.file.Transfers;
import io.fasterkv.device.file.UncachedFiles;
import io.fasterkv.memory.BufferPool;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Writes a new file sequentially: the caller fills one buffer while another thread writes the
 * others, past the page cache if the file system allows it. A later {@link #turn}, or {@link
 * #finish}, throws what a write has thrown. For one thread.
 */
public final class SequentialFile implements AutoCloseable {
  /** Bytes in the page cache after which it is forced, so that the disk is never idle. */
  private static final long UNFORCED_BYTES = 8L << 20;

  private static final int MOST_BUFFERS = 4;

  private final Path file;
  private final BufferPool pool;
  private final List<MemorySegment> buffers = new ArrayList<>();

  /** For each filled buffer, its last write. */
  private final List<AwaitedTransfer> writes = new ArrayList<>(MOST_BUFFERS);

  private final FileChannel cached;
  private final @Nullable FileChannel direct;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("faster-checkpoint-write").factory());
  private List<MemorySegment> added = new ArrayList<>();
  private long addedFrom;
  private long position;
  private int turns;

  /** Bytes in the page cache that were not forced; used by the writing thread. */
  private long unforced;

  /**
   * @param uncached opens the file past the page cache too, if possible
   * @param bufferBytes size of each of up to four buffers from {@code pool}, as many as leave half
   *     of the pool free
   */
  public SequentialFile(Path file, UncachedFiles uncached, BufferPool pool, int bufferBytes)
      throws IOException {
    this.file = file;
    this.pool = pool;
    buffers.add(pool.take(bufferBytes));
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
      buffers.add(more);
    }
  }

  private @Nullable FileChannel open(Path file, UncachedFiles uncached) throws IOException {
    try {
      return uncached.open(file);
    } catch (IOException | RuntimeException | Error e) {
      cached.close();
      throw e;
    }
  }

  /** The buffer to fill until the next {@link #turn}; at least as large as requested. */
  public MemorySegment buffer() {
    return buffers.get(turns % buffers.size());
  }

  /** Position of the next bytes in the file. */
  public long position() {
    return position;
  }

  /**
   * Adds bytes of the buffer to the file. They must not change until {@link #buffer} returns that
   * buffer again.
   */
  public void add(MemorySegment bytes) {
    added.add(bytes);
    position += bytes.byteSize();
  }

  /**
   * Starts writing what was added, and switches to the next buffer after its last write has ended.
   */
  public void turn() throws IOException {
    List<MemorySegment> pieces = added;
    long from = addedFrom;
    added = new ArrayList<>();
    addedFrom = position;
    AwaitedTransfer write = AwaitedTransfer.start(writer, () -> write(pieces, from));
    if (turns < buffers.size()) {
      writes.add(write);
    } else {
      writes.set(turns % buffers.size(), write);
    }
    turns++;
    if (turns >= buffers.size()) {
      writes.get(turns % buffers.size()).await();
    }
  }

  /** Writes the rest and returns when everything is durable. */
  public void finish() throws IOException {
    turn();
    for (AwaitedTransfer write : writes) {
      write.await();
    }
    // Not on the caller's thread: an interrupt would close the file.
    AwaitedTransfer.start(writer, this::force).await();
  }

  private void force() throws IOException {
    try {
      cached.force(true);
    } catch (IOException e) {
      throw new IOException("file=" + file + ", cause=" + e.getMessage(), e);
    }
  }

  private void write(List<MemorySegment> pieces, long from) throws IOException {
    try {
      long at = from;
      for (MemorySegment piece : pieces) {
        write(piece, at);
        at += piece.byteSize();
      }
    } catch (IOException e) {
      throw new IOException("file=" + file + ", offset>=" + from + ", cause=" + e.getMessage(), e);
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

  /** Waits for writes in progress; leaves the file as it is. */
  @Override
  public void close() throws IOException {
    // Shut down first, so that the thread ends even if the rest fails; it still writes the buffers
    // it was given.
    writer.shutdown();
    writes.forEach(AwaitedTransfer::awaitEnd);
    buffers.forEach(pool::give);
    try (cached) {
      if (direct != null) {
        direct.close();
      }
    }
  }
}
