package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The lanes of a bucket: an entry's hash selects its lane, so a lookup reads one lane and does not
 * touch the memory of the others. The lanes are adjacent; the bucket's head has the end of each
 * lane except the last.
 */
final class Lanes {
  static final int COUNT = 4;

  /** Lane number for a block without lanes. */
  static final int NONE = -1;

  static final int ENDS_BYTES = (COUNT - 1) * Integer.BYTES;

  /** The top bits of the hash select the lane; the low bits select the bucket. */
  private static final int HASH_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(COUNT);

  private Lanes() {}

  static int of(long hash) {
    return (int) (hash >>> HASH_SHIFT);
  }

  /** Makes a bucket without entries of a block that ends with its head. */
  static void makeEmpty(ByteSpan bucket) {
    for (int lane = 0; lane < COUNT - 1; lane++) {
      bucket.putInt(endAt(lane), MapLayout.BUCKET_HEAD_BYTES);
    }
  }

  private static int endAt(int lane) {
    return MapLayout.BUCKET_ENDS_AT + lane * Integer.BYTES;
  }

  static int begin(ByteSpan bucket, int lane) {
    return lane == 0 ? MapLayout.BUCKET_HEAD_BYTES : end(bucket, lane - 1);
  }

  static int end(ByteSpan bucket, int lane) {
    return lane == COUNT - 1
        ? bucket.length()
        : Objects.checkIndex(bucket.getInt(endAt(lane)), bucket.length() + 1);
  }

  /** The lane of the entry that starts at {@code start}. */
  static int at(ByteSpan bucket, int start) {
    int lane = 0;
    while (lane < COUNT - 1 && start >= end(bucket, lane)) {
      lane++;
    }
    return lane;
  }

  /** Makes room for bytes at the end of a lane, or of a block without lanes. */
  static int open(ByteSpan block, int lane, int bytes) {
    int end = block.length();
    int at = lane == NONE ? end : end(block, lane);
    block.setLength(end + bytes);
    move(block, at, at + bytes, end - at);
    if (lane != NONE) {
      moveEnds(block, lane, bytes);
    }
    return at;
  }

  /** Removes bytes from a lane, or from a block without lanes. */
  static void close(ByteSpan block, int lane, int at, int bytes) {
    move(block, at + bytes, at, block.length() - at - bytes);
    block.setLength(block.length() - bytes);
    if (lane != NONE) {
      moveEnds(block, lane, -bytes);
    }
  }

  private static void moveEnds(ByteSpan bucket, int lane, int by) {
    for (int later = lane; later < COUNT - 1; later++) {
      bucket.putInt(endAt(later), bucket.getInt(endAt(later)) + by);
    }
  }

  private static void move(ByteSpan block, int from, int to, int bytes) {
    if (bytes > 0) {
      MemorySegment memory = block.memory();
      MemorySegment.copy(memory, block.offset() + from, memory, block.offset() + to, bytes);
    }
  }
}
