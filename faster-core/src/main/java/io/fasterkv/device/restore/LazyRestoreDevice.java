package io.fasterkv.device.restore;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.file.AwaitedTransfer;
import io.fasterkv.device.file.TransferJob;
import io.fasterkv.memory.Checksums;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.spi.LogOrigin;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A device that starts with the log of another store before all of it is local. When an operation
 * reads a block that is not local yet, the device reads it from the origin, checks it, and stores
 * it in its own files. {@link BackgroundFill} copies all blocks.
 *
 * <p>{@link #stop} closes the origin first, so that every read of it ends. Then it waits for the
 * threads of this device, for {@value #MOST_WAIT_MILLIS} ms at most.
 */
public final class LazyRestoreDevice implements LogDevice {
  private static final int READERS = 4;
  private static final long MOST_WAIT_MILLIS = 1_500;

  private final LogDevice device;
  private final LogOrigin origin;
  private final Logger logger;
  private final LazyRestoreBlocks blocks;
  private final ExecutorService readers;

  /**
   * Read lock: threads that store blocks. Write lock: truncation. So no removed block is written.
   */
  private final ReadWriteLock removal = new ReentrantReadWriteLock();

  private final BackgroundFill fill;
  private boolean isStopped;
  private volatile @Nullable Store store;
  private long removedUntil;

  /**
   * Starts without any local block.
   *
   * @param device stores the blocks and the rest of the log; closed with this device
   * @param origin provides the log; closed with this device, or when all blocks are local
   * @param logger receives problems of the copy
   */
  public LazyRestoreDevice(LogDevice device, LogOrigin origin, Logger logger) {
    this.device = device;
    this.origin = origin;
    this.logger = logger;
    blocks = new LazyRestoreBlocks(origin);
    readers =
        Executors.newFixedThreadPool(
            READERS, Thread.ofPlatform().daemon().name("faster-lazy-restore-", 0).factory());
    fill = new BackgroundFill(this, blocks, Math.max(1, origin.streams()), logger);
  }

  /** The functions of a store that its device needs. Safe for all threads. */
  public interface Store {
    /** {@return the size of the scratch memory} */
    long scratchBytes();

    /**
     * Takes scratch memory.
     *
     * @param bytes how much is needed
     * @return memory of this size or more
     * @throws io.fasterkv.api.StoreException.OutOfBudget if there is no room for it now
     */
    MemorySegment take(int bytes);

    /**
     * Takes scratch memory, if there is room.
     *
     * @param bytes how much is needed
     * @return memory of this size or more; null if there is no room for it now
     */
    @Nullable MemorySegment tryTake(int bytes);

    /**
     * Returns scratch memory.
     *
     * @param buffer the memory
     */
    void give(MemorySegment buffer);

    /**
     * Tells how often a part of the log was read. Hot parts are copied first.
     *
     * @param address an address in the part
     * @return its heat, 0 and above
     */
    int heat(long address);

    /**
     * Receives a damaged block, or another failure that ends the copy.
     *
     * @param cause the failure
     */
    void failed(Throwable cause);
  }

  /**
   * Connects the device to its store, before the first read.
   *
   * @param user the store
   */
  public void connect(Store user) {
    store = user;
  }

  /** Starts copying all blocks, unless that has started already. */
  public void start() {
    Store user = store;
    if (user == null) {
      throw new IllegalStateException("the device is not connected to a store");
    }
    fill.start(user);
  }

  /**
   * Closes the origin, which ends all reads of it, and waits for the threads that read it, within a
   * time limit. Blocks that are not local cannot be read afterwards. A second caller waits for the
   * first.
   */
  public synchronized void stop() {
    if (isStopped) {
      return;
    }
    isStopped = true;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS);
    fill.stop();
    closeOrigin();
    fill.close(deadline);
    readers.shutdown();
    if (!OwnThread.awaitEnd(readers, deadline / 2 + System.nanoTime() / 2)) {
      // Each of these reads has a caller that waits for its end, and now fails at once.
      readers.shutdownNow().forEach(Runnable::run);
      if (!OwnThread.awaitEnd(readers, deadline)) {
        logger.log(
            Level.WARNING, "reads of the log's origin did not end in time and are abandoned");
      }
    }
  }

  /** Reports that the log cannot be copied completely. */
  void failed(Throwable cause) {
    Store user = store;
    if (user != null) {
      user.failed(cause);
    }
  }

  /** {@return how many bytes of the log are not local yet} */
  public long missingBytes() {
    return blocks.missingBytes();
  }

  /**
   * Stores a piece that the caller has read from the origin.
   *
   * @param address the piece's first address
   * @param bytes all bytes of the piece, whose checksum the caller has verified
   * @throws IOException if the piece cannot be written
   */
  public void keepPiece(long address, MemorySegment bytes) throws IOException {
    int block = blocks.at(address);
    keep(block, blocks.endOfPiece(block), bytes);
  }

  /** Reads blocks of one file from the origin, checks and stores them. */
  void copy(int block, int end, MemorySegment buffer) throws IOException {
    read(block, end, buffer);
    keep(block, end, buffer);
  }

  private void read(int first, int end, MemorySegment target) throws IOException {
    LogOrigin.File file = blocks.file(first);
    long from = blocks.from(first);
    file.read(from, target);
    for (int block = first; block < end; block++) {
      long at = blocks.from(block);
      MemorySegment bytes = target.asSlice(at - from, blocks.until(block) - at);
      if (Checksums.crc32c(bytes) != blocks.crc(block)) {
        throw new Corrupt(
            "a block of the log is not what was written: "
                + file.place(at)
                + ", address="
                + at
                + ", bytes="
                + bytes.byteSize());
      }
    }
  }

  /** Writes blocks to their place, piece by piece, unless they were removed in the meantime. */
  private void keep(int first, int end, MemorySegment bytes) throws IOException {
    long origin = blocks.from(first);
    for (int block = first; block < end; ) {
      int until = Math.min(end, blocks.endOfPiece(block));
      long from = blocks.from(block);
      keepInPiece(block, until, bytes.asSlice(from - origin, blocks.until(until - 1) - from));
      block = until;
    }
  }

  private void keepInPiece(int first, int end, MemorySegment bytes) throws IOException {
    Lock shared = removal.readLock();
    shared.lock();
    try {
      int block = first;
      while (block < end && (blocks.until(block) <= removedUntil || blocks.isLocal(block))) {
        block++;
      }
      if (block == end) {
        return;
      }
      long from = blocks.from(block);
      AwaitedTransfer.write(device, from, bytes.asSlice(from - blocks.from(first)));
      for (int written = block; written < end; written++) {
        blocks.setLocal(written);
      }
    } finally {
      shared.unlock();
    }
  }

  /**
   * Fills {@code target} with bytes that may not be local, and stores the blocks that it fetches.
   */
  void fetch(long address, MemorySegment target) throws IOException {
    long until = address + target.byteSize();
    long at = address;
    int block = blocks.at(address);
    while (blocks.isIn(block, until)) {
      if (blocks.isLocal(block) || blocks.until(block) <= at) {
        block++;
        continue;
      }
      long from = Math.max(at, blocks.from(block));
      readHere(at, target.asSlice(at - address, from - at));
      int end = endOfWhole(block, from, until);
      at = Math.min(until, blocks.until(Math.max(block, end - 1)));
      MemorySegment part = target.asSlice(from - address, at - from);
      if (end > block) {
        fetchWhole(block, end, part);
        block = end;
      } else {
        fetchPart(block, from, part);
        block++;
      }
    }
    readHere(at, target.asSlice(at - address, until - at));
  }

  /**
   * The end of the consecutive missing blocks of a file, from one on, that a range covers
   * completely.
   */
  private int endOfWhole(int block, long from, long until) {
    int end = block;
    int endOfFile = blocks.endOfFile(block);
    while (end < endOfFile
        && !blocks.isLocal(end)
        && blocks.from(end) >= from
        && blocks.until(end) <= until) {
      end++;
    }
    return end;
  }

  private void readHere(long address, MemorySegment target) throws IOException {
    if (target.byteSize() > 0) {
      device.readNow(address, target);
    }
  }

  private void fetchWhole(int block, int end, MemorySegment target) throws IOException {
    fill.missed(block);
    try {
      read(block, end, target);
    } catch (IOException e) {
      readInstead(block, end, blocks.from(block), target, e);
      return;
    }
    keepIfRoom(block, end, target);
  }

  /** Fills {@code target} with bytes of one block. */
  private void fetchPart(int block, long address, MemorySegment target) throws IOException {
    fill.missed(block);
    long from = blocks.from(block);
    MemorySegment bytes =
        MemorySegment.ofArray(new byte[Math.toIntExact(blocks.until(block) - from)]);
    try {
      read(block, block + 1, bytes);
    } catch (IOException e) {
      readInstead(block, block + 1, address, target, e);
      return;
    }
    keepIfRoom(block, block + 1, bytes);
    target.copyFrom(bytes.asSlice(address - from, target.byteSize()));
  }

  /**
   * Another thread may have copied these blocks, and with them the last one, which closes the
   * origin.
   */
  private void readInstead(
      int block, int end, long address, MemorySegment target, IOException failure)
      throws IOException {
    for (int wanted = block; wanted < end; wanted++) {
      if (!blocks.isLocal(wanted)) {
        throw new OriginUnreadable(
            "a block of the log cannot be read from its origin: "
                + blocks.file(block).place(blocks.from(wanted))
                + ", cause="
                + failure.getMessage(),
            failure);
      }
    }
    readHere(address, target);
  }

  private void keepIfRoom(int block, int end, MemorySegment bytes) throws IOException {
    try {
      keep(block, end, bytes);
    } catch (NoSpaceException full) {
      logger.log(
          Level.WARNING,
          "a block of the log cannot be stored on the full disk and is read from its origin:"
              + " address="
              + blocks.from(block),
          full);
    }
  }

  boolean isLocal(long address, long bytes) {
    return blocks.areLocal(address, bytes);
  }

  @Override
  public int sectorBytes() {
    return device.sectorBytes();
  }

  @Override
  public int readUnitBytes() {
    return device.readUnitBytes();
  }

  @Override
  public long memoryBytes() {
    return device.memoryBytes();
  }

  @Override
  public void write(long address, MemorySegment source, Completion completion) {
    device.write(address, source, completion);
  }

  @Override
  public boolean writeOne() {
    return device.writeOne();
  }

  @Override
  public void read(long address, MemorySegment target, Completion completion) {
    if (isLocal(address, target.byteSize())) {
      device.read(address, target, completion);
      return;
    }
    TransferJob.submit(readers, () -> fetch(address, target), completion);
  }

  /** Returns the failure, or null. Throws nothing, since the caller waits for a completion. */
  @Nullable IOException tryFetch(long address, MemorySegment target) {
    try {
      fetch(address, target);
      return null;
    } catch (Throwable e) {
      return StoreFailure.asIoException(e);
    }
  }

  @Override
  public ReadQueue readQueue(int depth) {
    return new LazyRestoreQueue(this, device.readQueue(depth));
  }

  @Override
  public boolean readsMemory(long address) {
    return isLocal(address, 1) && device.readsMemory(address);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    if (isLocal(address, target.byteSize())) {
      device.readNow(address, target);
    } else {
      fetch(address, target);
    }
  }

  @Override
  public boolean isWhole() {
    return blocks.isWhole() && device.isWhole();
  }

  @Override
  public void awaitWhole() throws IOException {
    start();
    fill.await();
    device.awaitWhole();
  }

  @Override
  public void force() throws IOException {
    device.force();
  }

  @Override
  public void truncate(long address) throws IOException {
    Lock alone = removal.writeLock();
    alone.lock();
    try {
      removedUntil = Math.max(removedUntil, address);
      blocks.giveUpBelow(address);
      device.truncate(address);
    } finally {
      alone.unlock();
    }
  }

  @Override
  public String place(long address) {
    int block = blocks.at(address);
    boolean isMissing = blocks.isIn(block, address + 1) && !isLocal(address, 1);
    return isMissing
        ? blocks.file(block).place(address) + ", address=" + address
        : device.place(address);
  }

  /** Closes the origin: all blocks are local, or the device is being closed. */
  void closeOrigin() {
    origin.close();
  }

  @Override
  public void close() throws IOException {
    stop();
    device.close();
  }

  @Override
  public void delete() throws IOException {
    device.delete();
  }
}
