package io.fasterkv.operation.core;

import io.fasterkv.memory.BufferPool;
import java.lang.foreign.MemorySegment;

/**
 * The buffers of an operation: for its key, for a copy of a value, and for records from disk. They
 * grow when needed and are returned to the pool at the end.
 */
abstract class OperationBuffers {
  /** Half a minute of pauses. */
  private static final int MAX_STARVATIONS = 20_000;

  private final BufferPool buffers;
  private final int bytesAtFirst;
  private MemorySegment keyBuffer = MemorySegment.NULL;
  private MemorySegment valueBuffer = MemorySegment.NULL;
  private MemorySegment diskBuffer = MemorySegment.NULL;
  private MemorySegment diskRecord = MemorySegment.NULL;

  /** Whether a larger buffer was not available. */
  private boolean isStarved;

  private int starvations;

  OperationBuffers(Engine engine) {
    buffers = engine.buffers();
    bytesAtFirst = ownBytes(engine);
  }

  /** Takes the first buffers: one block, so that an operation gets all of them or none. */
  final void takeBuffers() {
    int bytes = bytesAtFirst;
    MemorySegment first = buffers.take(bytes);
    try {
      keyBuffer = first.asSlice(0, bytes / 4);
      valueBuffer = first.asSlice(bytes / 4, bytes / 4);
      diskBuffer = first.asSlice(bytes / 2, bytes / 2);
      diskRecord = diskBuffer;
    } catch (Throwable e) {
      buffers.give(first);
      throw e;
    }
  }

  /** Half of it is for one read from disk. */
  static int ownBytes(Engine engine) {
    return Math.max(4 * BufferPool.MIN_BYTES, 2 * engine.log().device().readUnitBytes());
  }

  /** The buffer for the key. */
  final MemorySegment keyBuffer(int bytes) {
    keyBuffer = atLeast(keyBuffer, bytes);
    return keyBuffer;
  }

  /** A buffer for a copy of a value. */
  public final MemorySegment valueBuffer(int bytes) {
    valueBuffer = atLeast(valueBuffer, bytes);
    return valueBuffer;
  }

  /** The buffer for records from disk. */
  public final MemorySegment diskBuffer(int bytes) {
    diskBuffer = atLeast(diskBuffer, bytes);
    return diskBuffer;
  }

  /** Sets the position of the record in the bytes that were read. */
  public final MemorySegment setDiskRecord(long offset, long bytes) {
    diskRecord = diskBuffer.asSlice(offset, bytes);
    return diskRecord;
  }

  /** The record that was read last, from its first byte on. */
  public final MemorySegment diskRecord() {
    return diskRecord;
  }

  /**
   * Whether the operation may retry because it did not get a larger buffer, and other pending
   * operations will return theirs; a limited number of times.
   */
  public final boolean retriesForBuffer() {
    boolean mayRetry = isStarved && starvations < MAX_STARVATIONS;
    starvations += isStarved ? 1 : 0;
    isStarved = false;
    return mayRetry;
  }

  /** Whether it has taken more from the pool than its first buffers. */
  public final boolean isGrown() {
    return keyBuffer.byteSize() + valueBuffer.byteSize() + diskBuffer.byteSize() > bytesAtFirst;
  }

  /** Forgets that a larger buffer was not available. */
  final void endStarvation() {
    isStarved = false;
    starvations = 0;
  }

  /** Returns the buffers. */
  final void giveBuffers() {
    buffers.give(keyBuffer);
    buffers.give(valueBuffer);
    buffers.give(diskBuffer);
  }

  private MemorySegment atLeast(MemorySegment buffer, int bytes) {
    if (buffer.byteSize() >= bytes) {
      return buffer;
    }
    isStarved = true;
    MemorySegment larger = buffers.take(bytes);
    isStarved = false;
    buffers.give(buffer);
    return larger;
  }
}
