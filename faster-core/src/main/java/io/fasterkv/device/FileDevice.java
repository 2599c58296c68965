package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
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
}
