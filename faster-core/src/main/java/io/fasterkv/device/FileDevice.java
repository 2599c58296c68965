package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Segment files {@code log.0}, {@code log.1}, and so on in one directory, each of a fixed number of
 * bytes: address {@code a} lies in file {@code a / segmentBytes} at offset {@code a %
 * segmentBytes}. Transfers run on a few platform threads of the device's own.
 */
public final class FileDevice implements LogDevice {
  private static final int SECTOR_BYTES = 4096;
  private static final int THREADS = 2;

  private final SegmentFiles files;
  private final ExecutorService threads;

  /**
   * @param segmentBytes size of a segment file, a power of two
   */
  public FileDevice(Path directory, long segmentBytes) {
    files = new SegmentFiles(directory, segmentBytes);
    threads =
        Executors.newFixedThreadPool(
            THREADS,
            Thread.ofPlatform().name("faster-io-" + directory.getFileName() + "-", 0).daemon()
                ::unstarted);
  }

  @Override
  public int sectorBytes() {
    return SECTOR_BYTES;
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    submit(() -> files.write(address, source), completion);
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    submit(() -> files.read(address, target), completion);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    files.read(address, target);
  }

  @Override
  public void force() throws IOException {
    files.force();
  }

  @Override
  public void truncate(long address) throws IOException {
    files.truncate(address);
  }

  @Override
  public String place(long address) {
    return files.place(address);
  }

  @Override
  public void close() throws IOException {
    threads.shutdown();
    boolean interrupted = false;
    while (true) {
      try {
        if (threads.awaitTermination(1, TimeUnit.MINUTES)) {
          break;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    files.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void delete() throws IOException {
    files.delete();
  }

  private void submit(Transfer transfer, Completion completion) {
    try {
      threads.execute(() -> {
        @Nullable IOException failure = null;
        try {
          transfer.run();
        } catch (IOException e) {
          failure = e;
        } catch (RuntimeException | Error e) {
          failure = new IOException("a transfer broke", e);
        }
        completion.completed(failure);
      });
    } catch (RejectedExecutionException e) {
      completion.completed(new IOException("the device is closed", e));
    }
  }

  private interface Transfer {
    void run() throws IOException;
  }

  /** The files themselves; opened on first use and kept open. */
  private static final class SegmentFiles {
    private final Path directory;
    private final long segmentBytes;
    private final Map<Long, FileChannel> open = new ConcurrentHashMap<>();

    SegmentFiles(Path directory, long segmentBytes) {
      this.directory = directory;
      this.segmentBytes = segmentBytes;
    }

    void write(long address, MemorySegment source) throws IOException {
      checkWithinSegment(address, source);
      Transfers.writeFully(file(address / segmentBytes), source, address % segmentBytes);
    }

    void read(long address, MemorySegment target) throws IOException {
      checkWithinSegment(address, target);
      Transfers.readFully(file(address / segmentBytes), target, address % segmentBytes);
    }

    void force() throws IOException {
      for (FileChannel file : open.values()) {
        file.force(true);
      }
      DurableFiles.forceDirectory(directory);
    }

    void truncate(long address) throws IOException {
      for (long segment = address / segmentBytes - 1; segment >= 0; segment--) {
        if (!remove(segment)) {
          return;
        }
      }
    }

    String place(long address) {
      return path(address / segmentBytes) + " at offset " + address % segmentBytes;
    }

    void close() throws IOException {
      for (FileChannel file : open.values()) {
        file.close();
      }
      open.clear();
    }

    void delete() throws IOException {
      try (var paths = Files.newDirectoryStream(directory, "log.*")) {
        for (Path path : paths) {
          Files.deleteIfExists(path);
        }
      }
    }

    private boolean remove(long segment) throws IOException {
      FileChannel file = open.remove(segment);
      if (file != null) {
        file.close();
      }
      return Files.deleteIfExists(path(segment));
    }

    private FileChannel file(long segment) throws IOException {
      FileChannel file = open.get(segment);
      if (file != null) {
        return file;
      }
      FileChannel opened = DurableFiles.openReadWrite(path(segment));
      FileChannel raced = open.putIfAbsent(segment, opened);
      if (raced == null) {
        return opened;
      }
      opened.close();
      return raced;
    }

    private Path path(long segment) {
      return directory.resolve("log." + segment);
    }

    private void checkWithinSegment(long address, MemorySegment memory) {
      long last = address + memory.byteSize() - 1;
      if (address / segmentBytes != last / segmentBytes) {
        throw new IllegalArgumentException(
            "a transfer crosses segments: address=" + address + ", bytes=" + memory.byteSize());
      }
    }
  }
}
