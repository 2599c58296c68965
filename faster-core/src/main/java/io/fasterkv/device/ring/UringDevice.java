package io.fasterkv.device.ring;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.file.DirectIo;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.ring.ReadOnlyFiles.OpenFile;
import io.fasterkv.memory.SystemCalls;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A {@link FileDevice} whose read queues use io_uring, with one ring for each queue, through system
 * calls and without a library. A read takes less than half the processor time of the caller than
 * with a thread for each read. Writes are few and large, so they stay with threads.
 */
public final class UringDevice implements LogDevice {
  /** The maximum number of reads that one ring has in progress. */
  private static final int MAX_DEPTH = 64;

  private final FileDevice files;
  private final long segmentBytes;
  private final int maxRings;
  private final Logger logger;
  private final ReadOnlyFiles buffered;
  private final ReadOnlyFiles direct;
  private final Set<RingReads> queues = ConcurrentHashMap.newKeySet();
  private boolean isClosed;

  private UringDevice(
      FileDevice files, Path directory, long segmentBytes, int maxRings, Logger logger) {
    this.files = files;
    this.logger = logger;
    this.segmentBytes = segmentBytes;
    this.maxRings = maxRings;
    buffered = new ReadOnlyFiles(directory, segmentBytes, 0);
    direct = new ReadOnlyFiles(directory, segmentBytes, SystemCalls.DIRECT);
  }

  /**
   * Opens a device.
   *
   * @param files performs everything except the reads of queues, and determines whether those are
   *     direct; closed with this device, or by the caller if this method fails
   * @param maxRings how many queues get a ring; further queues use the threads of {@code files}
   * @param logger receives the reason when a queue gets no ring
   * @return the device
   * @throws IOException with the reason why the JVM or the kernel does not allow it
   */
  public static UringDevice over(FileDevice files, int maxRings, Logger logger) throws IOException {
    if (!SystemCalls.isGranted()) {
      throw new IOException(
          "native access is not granted; start Java with --enable-native-access=io.fasterkv, or"
              + " =ALL-UNNAMED on the class path");
    }
    Path directory = files.directory();
    if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
      throw new IOException("the files are not the system's own: directory=" + directory);
    }
    new Ring(1).close();
    return new UringDevice(files, directory, files.segmentBytes(), maxRings, logger);
  }

  @Override
  public int sectorBytes() {
    return files.sectorBytes();
  }

  @Override
  public int readUnitBytes() {
    return files.readUnitBytes();
  }

  @Override
  public long memoryBytes() {
    return maxRings * Ring.BYTES;
  }

  /** Returns a queue with a ring of its own, as long as rings are left. */
  @Override
  public synchronized ReadQueue readQueue(int depth) {
    if (isClosed || depth > MAX_DEPTH || queues.size() >= maxRings) {
      return files.readQueue(depth);
    }
    try {
      RingReads queue = new RingReads(this, new Ring(MAX_DEPTH), depth);
      queues.add(queue);
      return queue;
    } catch (IOException e) {
      logger.log(
          Level.WARNING,
          "a session reads without io_uring: directory="
              + files.directory()
              + ", cause="
              + e.getMessage());
      return files.readQueue(depth);
    }
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    files.write(address, source, completion);
  }

  @Override
  public boolean writeOne() {
    return files.writeOne();
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    files.read(address, target, completion);
  }

  @Override
  public boolean readsMemory(long address) {
    return files.readsMemory(address);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    files.readNow(address, target);
  }

  @Override
  public void force() throws IOException {
    files.force();
  }

  @Override
  public void truncate(long address) throws IOException {
    buffered.closeBelow(address);
    direct.closeBelow(address);
    files.truncate(address);
  }

  @Override
  public String place(long address) {
    return files.place(address);
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      if (isClosed) {
        return;
      }
      isClosed = true;
    }
    List.copyOf(queues).forEach(RingReads::close);
    buffered.close();
    direct.close();
    files.close();
  }

  @Override
  public void delete() throws IOException {
    files.delete();
  }

  /** Returns the file of a read, with one more hold on it. */
  OpenFile hold(long address, MemorySegment target) throws IOException {
    if (!target.isNative()) {
      throw new IOException("a read into the Java heap: bytes=" + target.byteSize());
    }
    long last = address + target.byteSize() - 1;
    if (address / segmentBytes != last / segmentBytes) {
      throw new IOException(
          "a read crosses segments: address=" + address + ", bytes=" + target.byteSize());
    }
    boolean isDirect = readUnitBytes() > 1 && DirectIo.isAligned(address, target);
    return (isDirect ? direct : buffered).hold(address);
  }

  long position(long address) {
    return address % segmentBytes;
  }

  void forget(RingReads queue) {
    queues.remove(queue);
  }
}
