package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of a {@link FileDevice}, opened on first use and kept open while they are not too many.
 * Safe for all threads.
 *
 * <p>A transfer that finds its file closed, by an interrupt of any thread or since too many are
 * open, opens it again and retries ({@link Uninterrupted}).
 *
 * <p>A segment is absent, then present, and after a truncation deleted for good. One lock covers
 * opening or creating a file and declaring a segment deleted. So no thread creates or opens the
 * file of a deleted segment, and a truncation finds and closes every file that was opened before
 * it.
 */
public final class SegmentFiles {
  static final String PREFIX = "log.";

  /** How many segments are open at a time, not counting those that must be forced. */
  public static final int MOST_OPEN = 256;

  private final Path directory;
  private final long segmentBytes;
  private final OpenOption[] options;
  private final Map<Long, FileChannel> open = new ConcurrentHashMap<>();
  private final Set<Long> unforced = ConcurrentHashMap.newKeySet();

  /** Held to open a file, to declare segments deleted, and to close; never during a transfer. */
  private final Object opening = new Object();

  private volatile boolean isClosed;

  /** Segments below it are deleted, although their files may still exist. */
  private volatile long deletedBelow;

  /** Why {@link #force} has failed; accessed by one force at a time. */
  private @Nullable Throwable forceFailure;

  /** No file exists below it. */
  private long removedUntil;

  /**
   * @param options how to open files, in addition to reading and writing
   */
  SegmentFiles(Path directory, long segmentBytes, OpenOption... options) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
    this.options = options;
  }

  void write(long address, MemorySegment source) throws IOException {
    checkWithinSegment(address, source);
    long segment = address / segmentBytes;
    with(segment, true, file -> Transfers.writeFully(file, source, address % segmentBytes));
    unforced.add(segment);
  }

  void read(long address, MemorySegment target) throws IOException {
    checkWithinSegment(address, target);
    with(
        address / segmentBytes,
        false,
        file -> Transfers.readFully(file, target, address % segmentBytes));
  }

  /**
   * One at a time: when it returns, everything written before the call is durable. After a failure,
   * all later calls fail: the system may drop the bytes that it could not write, and then reports
   * success for the same file.
   */
  synchronized void force() throws IOException {
    if (forceFailure != null) {
      throw new IOException(
          "the log could not be made durable before, and may have lost bytes: directory="
              + directory
              + "; open the store again from its last checkpoint",
          forceFailure);
    }
    try {
      forceAll();
    } catch (Throwable e) {
      forceFailure = e;
      throw e;
    }
  }

  private void forceAll() throws IOException {
    for (long segment : List.copyOf(unforced)) {
      unforced.remove(segment);
      try {
        with(segment, false, file -> file.force(true));
      } catch (NoSuchFileException e) {
        if (segment >= deletedBelow) {
          throw e;
        }
      }
      closeOthers(segment);
    }
    DurableFiles.forceDirectory(directory);
  }

  /**
   * Removes the segments that are completely below {@code address}, including those that a power
   * failure has left with a gap above them.
   */
  synchronized void truncate(long address) throws IOException {
    long end = address / segmentBytes;
    if (end <= removedUntil) {
      return;
    }
    closeBelow(address);
    try (var paths = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path path : paths) {
        if (number(path) < end) {
          Files.deleteIfExists(path);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    removedUntil = end;
  }

  /** Closes the segments that are completely below {@code address}, and never opens them again. */
  void closeBelow(long address) throws IOException {
    long end = address / segmentBytes;
    synchronized (opening) {
      deletedBelow = Math.max(deletedBelow, end);
    }
    unforced.removeIf(segment -> segment < end);
    for (long segment : List.copyOf(open.keySet())) {
      FileChannel file = segment < end ? open.remove(segment) : null;
      if (file != null) {
        file.close();
      }
    }
  }

  String place(long address) {
    return "file=" + path(address / segmentBytes) + ", offset=" + address % segmentBytes;
  }

  void close() throws IOException {
    synchronized (opening) {
      isClosed = true;
    }
    for (FileChannel file : open.values()) {
      file.close();
    }
    open.clear();
  }

  void delete() throws IOException {
    try (var paths = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path path : paths) {
        if (number(path) < Long.MAX_VALUE) {
          Files.deleteIfExists(path);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /** The segment number of a file; the largest number if the file is not a segment. */
  private static long number(Path path) {
    String number = path.getFileName().toString().substring(PREFIX.length());
    return number.matches("\\d{1,18}") ? Long.parseLong(number) : Long.MAX_VALUE;
  }

  private interface Transfer {
    void run(FileChannel file) throws IOException;
  }

  private void with(long segment, boolean mayCreate, Transfer transfer) throws IOException {
    Uninterrupted.run(() -> {
      FileChannel file = file(segment, mayCreate);
      try {
        transfer.run(file);
      } catch (ClosedChannelException e) {
        open.remove(segment, file);
        throw e;
      }
    });
  }

  private FileChannel file(long segment, boolean mayCreate) throws IOException {
    if (isClosed) {
      throw new IOException("the device is closed");
    }
    FileChannel file = open.get(segment);
    if (file == null) {
      file = open(segment, mayCreate);
      closeOthers(segment);
    }
    return file;
  }

  private FileChannel open(long segment, boolean mayCreate) throws IOException {
    Path path = path(segment);
    synchronized (opening) {
      FileChannel there = open.get(segment);
      if (there != null) {
        return there;
      }
      if (isClosed) {
        throw new IOException("the device is closed");
      }
      if (segment < deletedBelow) {
        throw new NoSuchFileException(path.toString(), null, "the segment was truncated");
      }
      FileChannel opened =
          mayCreate
              ? DurableFiles.openReadWrite(path, options)
              : DurableFiles.openExisting(path, options);
      open.put(segment, opened);
      return opened;
    }
  }

  /**
   * Closes segments while too many are open. Any will do: a log is mostly read and written near its
   * ends, and a transfer in progress opens its file again. Segments that must be forced stay open,
   * because a system may report a failed write only to a process that has the file open.
   */
  private void closeOthers(long segment) throws IOException {
    if (open.size() <= MOST_OPEN) {
      return;
    }
    for (long other : List.copyOf(open.keySet())) {
      boolean isKept = other == segment || unforced.contains(other) || open.size() <= MOST_OPEN / 2;
      FileChannel file = isKept ? null : open.remove(other);
      if (file != null) {
        file.close();
      }
    }
  }

  Path path(long segment) {
    return directory.resolve(PREFIX + segment);
  }

  private void checkWithinSegment(long address, MemorySegment memory) {
    long last = address + memory.byteSize() - 1;
    if (address / segmentBytes != last / segmentBytes) {
      throw new IllegalArgumentException(
          "a transfer crosses segments: address=" + address + ", bytes=" + memory.byteSize());
    }
  }
}
