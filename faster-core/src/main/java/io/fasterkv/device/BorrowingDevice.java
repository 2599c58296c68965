package io.fasterkv.device;

import io.fasterkv.api.LogOrigin;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.memory.Checksums;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A device that begins with the log of another store before it has all of it: what is not here yet
 * is read from where it came from, compared with its checksum and kept here, when it is asked for
 * or when its turn comes. {@link Lending} is the thread that brings all of it.
 */
public final class BorrowingDevice implements LogDevice {
  private static final Logger LOG = System.getLogger(BorrowingDevice.class.getName());
  private static final int READERS = 4;

  private final LogDevice device;
  private final LogOrigin origin;
  private final BorrowedPieces pieces;
  private final ExecutorService readers;

  /**
   * Shared by who puts pieces here, alone for who removes them: none comes after it was removed.
   */
  private final ReadWriteLock removal = new ReentrantReadWriteLock();

  private final Lending lending;
  private volatile Consumer<? super Throwable> onFailure = failure -> {};
  private long removedUntil;

  /**
   * Begins with nothing here.
   *
   * @param device takes the pieces, and the log as it goes on; closed with this
   * @param origin has the pieces; closed with this, or when all are here
   */
  public BorrowingDevice(LogDevice device, LogOrigin origin) {
    this.device = device;
    this.origin = origin;
    pieces = new BorrowedPieces(origin);
    readers =
        Executors.newFixedThreadPool(
            READERS, Thread.ofPlatform().daemon().name("faster-borrow-", 0).factory());
    lending = new Lending(this, pieces);
  }

  /** From now on {@code listener} is told if a piece that is brought is not what was written. */
  public void onFailure(Consumer<? super Throwable> listener) {
    onFailure = listener;
  }

  /** Begins to bring all pieces here, unless it has begun. */
  public void start() {
    lending.start();
  }

  /** Brings no more pieces here by itself; what is not here is read where it is. */
  public void stop() {
    lending.close();
  }

  /** All cannot be brought here. */
  void failed(Throwable cause) {
    onFailure.accept(cause);
  }

  /** Bytes of the log that are not here yet. */
  public long missingBytes() {
    long bytes = 0;
    for (int piece = 0; pieces.missing() > 0 && piece < pieces.count(); piece++) {
      bytes += pieces.isHere(piece) ? 0 : pieces.piece(piece).bytes();
    }
    return bytes;
  }

  /**
   * Reads a file of the log's origin once and keeps its pieces here.
   *
   * @param buffer has room for a page
   * @param visitor sees each piece, compared with its checksum
   */
  public void takeFile(int file, MemorySegment buffer, LogOrigin.Visitor visitor)
      throws IOException {
    LogOrigin.File taken = pieces.files().get(file);
    int[] next = {pieces.firstOf(file)};
    taken.readAll(
        buffer,
        (piece, bytes) -> {
          check(piece, bytes, taken);
          keep(next[0]++, piece, bytes);
          return visitor.visit(piece, bytes);
        });
  }

  /** Puts a piece to its place, unless it was removed meanwhile. */
  void keep(int number, LogPiece piece, MemorySegment bytes) throws IOException {
    Lock shared = removal.readLock();
    shared.lock();
    try {
      if (piece.until() > removedUntil && !pieces.isHere(number)) {
        write(piece.from(), bytes);
        pieces.setHere(number);
      }
    } finally {
      shared.unlock();
    }
  }

  private void write(long address, MemorySegment bytes) throws IOException {
    CompletableFuture<@Nullable IOException> written = new CompletableFuture<>();
    device.write(address, bytes, written::complete);
    IOException failure = written.join();
    if (failure != null) {
      throw failure;
    }
  }

  /** Refuses bytes that are not a piece's. */
  static void check(LogPiece piece, MemorySegment bytes, LogOrigin.File file) {
    if (Checksums.crc32c(bytes) != piece.crc()) {
      throw new Corrupt(
          "a piece of log is not what was written: " + file.place(piece) + ", piece=" + piece);
    }
  }

  /** Fills {@code target} with what may not be here; pieces that are fetched for it are kept. */
  void fetch(long address, MemorySegment target) throws IOException {
    long until = address + target.byteSize();
    long at = address;
    for (int i = pieces.at(address); pieces.isIn(i, until); i++) {
      LogPiece piece = pieces.piece(i);
      if (!pieces.isHere(i) && piece.until() > at) {
        long from = Math.max(at, piece.from());
        readHere(at, target.asSlice(at - address, from - at));
        at = Math.min(until, piece.until());
        fetch(i, from, target.asSlice(from - address, at - from));
      }
    }
    readHere(at, target.asSlice(at - address, until - at));
  }

  private void readHere(long address, MemorySegment target) throws IOException {
    if (target.byteSize() > 0) {
      device.readNow(address, target);
    }
  }

  /** Fills {@code target} with bytes of one piece. */
  private void fetch(int number, long address, MemorySegment target) throws IOException {
    LogPiece piece = pieces.piece(number);
    LogOrigin.File file = pieces.file(number);
    MemorySegment bytes = MemorySegment.ofArray(new byte[piece.bytes()]);
    try {
      file.read(piece, bytes);
    } catch (IOException e) {
      if (!pieces.isHere(number)) {
        throw new OriginUnreadable(
            "a piece of log cannot be read where it came from: " + file.place(piece), e);
      }
      // Another has brought it, and the last of all, so that the origin is closed.
      device.readNow(address, target);
      return;
    }
    check(piece, bytes, file);
    try {
      keep(number, piece, bytes);
    } catch (NoSpaceException full) {
      LOG.log(Level.WARNING, "a piece of log is read where it came from: piece=" + piece, full);
    }
    target.copyFrom(bytes.asSlice(address - piece.from(), target.byteSize()));
  }

  boolean isHere(long address, long bytes) {
    return pieces.areHere(address, bytes);
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
    if (isHere(address, target.byteSize())) {
      device.read(address, target, completion);
      return;
    }
    try {
      readers.execute(() -> completion.completed(tryFetch(address, target)));
    } catch (RejectedExecutionException e) {
      completion.completed(new IOException("the device is closed", e));
    }
  }

  /** Returns why it has failed, or null. */
  @Nullable IOException tryFetch(long address, MemorySegment target) {
    try {
      fetch(address, target);
      return null;
    } catch (IOException e) {
      return e;
    } catch (RuntimeException e) {
      return new IOException(e.getMessage(), e);
    }
  }

  @Override
  public ReadQueue readQueue(int depth) {
    return new BorrowingQueue(this, device.readQueue(depth));
  }

  @Override
  public boolean readsMemory(long address) {
    return isHere(address, 1) && device.readsMemory(address);
  }

  @Override
  public void readNow(long address, MemorySegment target) throws IOException {
    if (isHere(address, target.byteSize())) {
      device.readNow(address, target);
    } else {
      fetch(address, target);
    }
  }

  @Override
  public boolean isWhole() {
    return pieces.missing() == 0 && device.isWhole();
  }

  @Override
  public void awaitWhole() throws IOException {
    lending.start();
    lending.await();
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
      pieces.giveUpBelow(address);
      device.truncate(address);
    } finally {
      alone.unlock();
    }
  }

  @Override
  public String place(long address) {
    int number = pieces.at(address);
    boolean isBorrowed = pieces.isIn(number, address + 1) && !isHere(address, 1);
    return isBorrowed
        ? pieces.file(number).place(pieces.piece(number)) + ", address=" + address
        : device.place(address);
  }

  /** All is here, or nothing is wanted any more. */
  void closeOrigin() {
    try {
      origin.close();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the files that a log came from could not be closed", e);
    }
  }

  @Override
  public void close() throws IOException {
    lending.close();
    readers.close();
    closeOrigin();
    device.close();
  }

  @Override
  public void delete() throws IOException {
    device.delete();
  }
}
