package io.fasterkv.device.ring;

import io.fasterkv.device.file.SegmentFiles;
import io.fasterkv.memory.SystemCalls;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Segment files by descriptor, opened for reading on first use. Safe for all threads.
 *
 * <p>After a descriptor is closed, its number may refer to another file. So a thread that puts one
 * into a request holds the file until the request has ended; the last holder closes it.
 */
final class ReadOnlyFiles implements AutoCloseable {
  private static final int ENOENT = 2;

  /** An open file and its number of holders; the map of this object is one of them. */
  final class OpenFile {
    final int descriptor;
    private final AtomicInteger holders = new AtomicInteger(1);

    private OpenFile(int descriptor) {
      this.descriptor = descriptor;
    }

    /** Returns false if the last holder has released the file. */
    private boolean hold() {
      for (int count = holders.get(); count > 0; count = holders.get()) {
        if (holders.compareAndSet(count, count + 1)) {
          return true;
        }
      }
      return false;
    }

    void release() {
      if (holders.decrementAndGet() == 0) {
        close(descriptor);
      }
    }
  }

  private final Path directory;
  private final long segmentBytes;
  private final long flags;
  private final SystemCalls system = new SystemCalls();
  private final ConcurrentMap<Long, OpenFile> open = new ConcurrentHashMap<>();

  /** Segments below it are deleted and never opened again. */
  private long deletedBelow;

  /**
   * @param flags how to open files, in addition to reading
   */
  ReadOnlyFiles(Path directory, long segmentBytes, long flags) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
    this.flags = flags;
  }

  /** Returns the file that contains an address, with one more hold on it. */
  OpenFile hold(long address) throws IOException {
    long segment = address / segmentBytes;
    while (true) {
      OpenFile file = open.get(segment);
      if (file == null) {
        file = add(segment);
      }
      if (file.hold()) {
        return file;
      }
    }
  }

  /** Closes the segments that are completely below {@code address}, and never opens them again. */
  synchronized void closeBelow(long address) {
    deletedBelow = Math.max(deletedBelow, address / segmentBytes);
    closeSegments(deletedBelow);
  }

  private void closeSegments(long end) {
    for (long segment : List.copyOf(open.keySet())) {
      OpenFile file = segment < end ? open.remove(segment) : null;
      if (file != null) {
        file.release();
      }
    }
  }

  /** Releases all files. No request may be in progress. */
  @Override
  public void close() {
    closeSegments(Long.MAX_VALUE);
    system.close();
  }

  private synchronized OpenFile add(long segment) throws IOException {
    OpenFile file = open.get(segment);
    if (file == null) {
      Path path = directory.resolve("log." + segment);
      if (segment < deletedBelow) {
        throw new NoSuchFileException(path.toString(), null, "the segment was truncated");
      }
      file = new OpenFile(openFile(path));
      if (open.size() >= SegmentFiles.MOST_OPEN) {
        closeSegments(Long.MAX_VALUE);
      }
      open.put(segment, file);
    }
    return file;
  }

  private int openFile(Path path) throws IOException {
    int result = system.open(path.toString(), flags);
    if (result == -ENOENT) {
      throw new NoSuchFileException(path.toString());
    }
    if (result < 0) {
      throw new IOException("a file could not be opened: file=" + path + ", errno=" + -result);
    }
    return result;
  }

  private synchronized void close(int descriptor) {
    system.close(descriptor);
  }
}
