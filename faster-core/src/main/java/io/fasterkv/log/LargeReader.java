package io.fasterkv.log;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.epoch.EpochUser;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Reads the chunks that a {@link ChunkCursor} names, one at a time, from memory or disk. The caller
 * must not be protected, must have pinned the log's begin address before it found the live anchor,
 * and must be a user of the epochs: it is protected only while one chunk is copied from memory.
 * Pages may be evicted between chunks. A chunk is below the one before it, so after the first chunk
 * on disk all others are on disk.
 */
public final class LargeReader {

  /**
   * Receives the bytes of a chunk that the cursor has just accepted; called with or without
   * protection.
   */
  @FunctionalInterface
  public interface Sink {
    void take(MemorySegment memory, ChunkCursor accepted);
  }

  private final HybridLog log;
  private final EpochUser user;
  private final long unit;
  private final ChunkCursor cursor;

  public LargeReader(HybridLog log, EpochUser user) {
    this.log = log;
    this.user = user;
    unit = log.device().readUnitBytes();
    cursor = new ChunkCursor(log);
  }

  /** The cursor with the reader's position. */
  public ChunkCursor cursor() {
    return cursor;
  }

  /** Reads chunks from memory until the value ends or the next chunk is on disk. */
  public void takeFromMemory(Sink sink) {
    while (!cursor.isAtEnd() && takeOneFromMemory(sink)) {
      // Reads one chunk for each protection, so that the epoch can advance in between.
    }
  }

  /** Reads the next chunk, which is on disk, into {@code buffer} on this thread. */
  public void takeFromDisk(MemorySegment buffer, Sink sink) {
    try {
      log.device().readNow(readFrom(), readTarget(buffer));
    } catch (IOException e) {
      throw unreadable(e);
    }
    takeArrived(buffer, sink);
  }

  /** Start of the read for the next chunk, extended to the unit in which the device reads. */
  public long readFrom() {
    return cursor.address() & -unit;
  }

  /** The part of a page buffer for the next chunk. */
  public MemorySegment readTarget(MemorySegment buffer) {
    long end = cursor.address() + cursor.recordBytes();
    return buffer.asSlice(0, (end - readFrom() + unit - 1) & -unit);
  }

  /** Takes the next chunk, which was read from {@link #readFrom} on to the start of the buffer. */
  public void takeArrived(MemorySegment buffer, Sink sink) {
    cursor.accept(buffer, cursor.address() - readFrom(), true);
    sink.take(buffer, cursor);
  }

  /** The exception for a next chunk that could not be read. */
  public DeviceFailed unreadable(IOException cause) {
    return new DeviceFailed("a chunk of a large value could not be read: " + cursor.place(), cause);
  }

  /** Reads the next chunk from memory; returns false if it is on disk. */
  public boolean takeOneFromMemory(Sink sink) {
    user.protect();
    try {
      if (cursor.address() < log.pinnedFrom()) {
        return false;
      }
      MemorySegment memory = log.memory();
      cursor.accept(memory, log.offset(cursor.address()), false);
      sink.take(memory, cursor);
      return true;
    } finally {
      user.unprotect();
    }
  }
}
