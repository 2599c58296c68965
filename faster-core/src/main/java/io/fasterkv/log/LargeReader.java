package io.fasterkv.log;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.epoch.EpochUser;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Brings the chunks that a {@link ChunkCursor} comes to, one at a time, from memory or disk. The
 * caller is not protected, has pinned the log's begin since before it found the anchor alive, and
 * is a user of the epochs: it is protected while one chunk is copied out of memory, never longer.
 * Pages may be evicted in between. A chunk lies below the one before it, so once one is on disk,
 * all that follow are.
 */
public final class LargeReader {

  /** Takes the bytes of a chunk that the cursor has just accepted; protected or not. */
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

  /** Where the reader is. */
  public ChunkCursor cursor() {
    return cursor;
  }

  /** Takes chunks from memory until the value ends or the next one is on disk. */
  public void takeFromMemory(Sink sink) {
    while (!cursor.isAtEnd() && takeOneFromMemory(sink)) {
      // One chunk at a time: the epoch goes on in between.
    }
  }

  /** Reads the next chunk, which is on disk, into {@code buffer}, on this thread. */
  public void takeFromDisk(MemorySegment buffer, Sink sink) {
    try {
      log.device().readNow(readFrom(), readTarget(buffer));
    } catch (IOException e) {
      throw unreadable(e);
    }
    takeArrived(buffer, sink);
  }

  /** Where the read of the next chunk begins, widened to the unit that the device reads in. */
  public long readFrom() {
    return cursor.address() & -unit;
  }

  /** The part of a buffer of a page that the next chunk is read to. */
  public MemorySegment readTarget(MemorySegment buffer) {
    long end = cursor.address() + cursor.recordBytes();
    return buffer.asSlice(0, (end - readFrom() + unit - 1) & -unit);
  }

  /** Takes the next chunk, which was read from {@link #readFrom} on to the start of a buffer. */
  public void takeArrived(MemorySegment buffer, Sink sink) {
    cursor.accept(buffer, cursor.address() - readFrom(), true);
    sink.take(buffer, cursor);
  }

  /** What is thrown when the next chunk could not be read. */
  public DeviceFailed unreadable(IOException cause) {
    return new DeviceFailed("a chunk of a large value could not be read: " + cursor.place(), cause);
  }

  /** Takes the next chunk, unless it is on disk. */
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
