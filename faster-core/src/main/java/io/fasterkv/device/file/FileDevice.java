package io.fasterkv.device.file;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.memory.StackReserve;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Stores a log in segment files {@code log.0}, {@code log.1}, and so on, of a fixed size in one
 * directory. Address {@code a} is in file {@code a / segmentBytes} at offset {@code a %
 * segmentBytes}. Each transfer runs on a platform thread of the device; threads start when there is
 * work and end when there is none. One thread writes at a time, while other threads report the end
 * of their writes. Reads never wait for writes.
 *
 * <p>With direct I/O, transfers whose address, size and memory are multiples of 4096 bytes bypass
 * the system's page cache; all other transfers go through it.
 */
public final class FileDevice implements LogDevice {
  private static final int SECTOR_BYTES = 4096;
  static final int WRITERS = 4;
  private static final int READERS = 32;
  private static final long IDLE_SECONDS = 10;

  private final Path directory;
  private final long segmentBytes;
  private final SegmentFiles buffered;
  private final @Nullable SegmentFiles direct;
  private final @Nullable MappedPieces mapped;

  /** File systems lock a file that grows, and threads that wait for that lock spin. */
  private final ReentrantLock writing = new ReentrantLock(true);

  private final ThreadPoolExecutor writers;

  /** Read lock: threads outside the device that perform a write. */
  private final ReentrantReadWriteLock helping = new ReentrantReadWriteLock();

  private final ExecutorService readers;

  /**
   * Creates a device that reads and writes through the system's page cache.
   *
   * @param directory the directory for the segment files
   * @param segmentBytes size of a segment file, a power of two
   */
  public FileDevice(Path directory, long segmentBytes) {
    this(directory, segmentBytes, null, paths -> null);
  }

  private FileDevice(
      Path directory,
      long segmentBytes,
      @Nullable SegmentFiles direct,
      Function<LongFunction<Path>, @Nullable MappedPieces> mapping) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
    this.direct = direct;
    buffered = new SegmentFiles(directory, segmentBytes);
    mapped = mapping.apply(buffered::path);
    writers = threads("faster-write-" + directory.getFileName() + "-", WRITERS);
    readers = threads("faster-read-" + directory.getFileName() + "-", READERS);
  }

  /**
   * Creates a device whose aligned transfers bypass the page cache.
   *
   * @param directory an existing directory
   * @param segmentBytes size of a segment file, a power of two
   * @return the device
   * @throws IOException with the reason why the directory's file system, or the JVM, does not allow
   *     it
   */
  public static FileDevice direct(Path directory, long segmentBytes) throws IOException {
    return new FileDevice(
        directory,
        segmentBytes,
        new SegmentFiles(directory, segmentBytes, DirectIo.tried(directory)),
        paths -> null);
  }

  /**
   * Creates a device that maps files for short reads outside of read queues, if this JVM can do so.
   *
   * @param directory the directory for the segment files
   * @param segmentBytes size of a segment file, a power of two
   * @param usualBytes how much is mapped in a store that keeps its memory; the size of a piece
   *     follows from it
   * @param mostBytes how much is mapped at a time, at least 1 MiB
   * @return the device
   */
  public static FileDevice mapped(
      Path directory, long segmentBytes, long usualBytes, long mostBytes) {
    return new FileDevice(
        directory,
        segmentBytes,
        null,
        paths ->
            MappedPieces.isPossible(directory)
                ? new MappedPieces(segmentBytes, usualBytes, mostBytes, paths)
                : null);
  }

  public Path directory() {
    return directory;
  }

  public long segmentBytes() {
    return segmentBytes;
  }

  @Override
  public int sectorBytes() {
    return SECTOR_BYTES;
  }

  @Override
  public int readUnitBytes() {
    return direct == null ? 1 : DirectIo.UNIT_BYTES;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    TransferJob.submit(writers, () -> writeAlone(address, source), completion);
  }

  @Override
  public boolean writeOne() {
    BlockingQueue<Runnable> waiting = writers.getQueue();
    if (waiting.isEmpty()) {
      return false;
    }
    // No other thread performs a write that was taken out of the queue.
    StackReserve.require();
    if (!helping.readLock().tryLock()) {
      return false;
    }
    try {
      Runnable write = waiting.peek();
      // The executor runs it; the executor ends when the last write is removed and it is shut down.
      if (write == null || !writers.remove(write)) {
        return false;
      }
      run(write);
      return true;
    } finally {
      helping.readLock().unlock();
    }
  }

  /** If the write cannot begin it has failed, since it is in no queue any more. */
  private static void run(Runnable write) {
    try {
      write.run();
    } catch (Throwable e) {
      if (write instanceof TransferJob job) {
        job.cannotRun(e);
      }
      throw e;
    }
  }

  private void writeAlone(long address, MemorySegment source) throws IOException {
    writing.lock();
    try {
      files(address, source).write(address, source);
      if (mapped != null) {
        mapped.written(address, address + source.byteSize());
      }
    } catch (IOException e) {
      throw NoSpaceException.classify(e, directory, source.byteSize());
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    TransferJob.submit(readers, () -> files(address, target).read(address, target), completion);
  }

  @Override
  public boolean readsMemory(long address) {
    return mapped != null && mapped.isMappable(address);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    if (mapped == null || !mapped.read(address, target)) {
      files(address, target).read(address, target);
    }
  }

  @Override
  public void force() throws IOException {
    if (direct != null) {
      direct.force();
    }
    buffered.force();
  }

  @Override
  public void truncate(long address) throws IOException {
    if (direct != null) {
      direct.closeBelow(address);
    }
    if (mapped != null) {
      mapped.truncate(address & -segmentBytes);
    }
    buffered.truncate(address);
  }

  @Override
  public String place(long address) {
    return buffered.place(address);
  }

  @Override
  public void close() throws IOException {
    writers.shutdown();
    readers.shutdown();
    boolean isInterrupted = awaitEnd(writers);
    isInterrupted |= awaitEnd(readers);
    // From here on no thread finds a write; a thread that has found one performs it.
    helping.writeLock().lock();
    helping.writeLock().unlock();
    if (direct != null) {
      direct.close();
    }
    if (mapped != null) {
      mapped.close();
    }
    buffered.close();
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void delete() throws IOException {
    buffered.delete();
  }

  private SegmentFiles files(long address, MemorySegment memory) {
    return direct != null && DirectIo.isAligned(address, memory) ? direct : buffered;
  }

  private static ThreadPoolExecutor threads(String name, int most) {
    var threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name(name, 0).daemon()::unstarted);
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static boolean awaitEnd(ExecutorService threads) {
    boolean isInterrupted = false;
    while (true) {
      try {
        if (threads.awaitTermination(1, TimeUnit.MINUTES)) {
          return isInterrupted;
        }
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
  }
}
