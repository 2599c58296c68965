package io.fasterkv.operation;

import io.fasterkv.log.HybridLog;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Gathers a value whose newest record is a delta, as far as memory has it.
 *
 * <p>Only the newest delta of a key may be one that somebody changes. A record below it that lies
 * in the fuzzy region may still get an update that began before the delta was there, so who needs
 * the whole value comes again until the region has passed; then all below the newest delta stands
 * still, and the value is one that the key had at the moment when the newest delta was read. One
 * session's; used over and over.
 */
final class DeltaWalk {

  /** How far the value was gathered. */
  enum Extent {
    WHOLE,
    /** The rest is on disk, from {@link #diskAddress()} on. */
    MORE_ON_DISK,
    /** Some of it may still be changing: come again. */
    FUZZY
  }

  private final HybridLog log;
  private final ChainWalk walk;
  private final RecordLayout layout;
  private int deltas;
  private long bytes;
  private boolean isLarge;

  DeltaWalk(Engine engine, ChainWalk other) {
    log = engine.log();
    layout = engine.layout();
    walk = other.another();
  }

  /**
   * Gathers into the operation's fold, from the newest record, a delta, that {@code newest} has
   * found.
   */
  Extent gather(Operation<?, ?, ?> op, ChainWalk newest, long begin) {
    MemorySegment memory = log.memory();
    long record = log.offset(newest.address());
    if (newest.isStable()) {
      op.fold.open(op, newest.address(), memory, record);
    } else {
      op.fold.openApart(op, newest.address(), memory, record);
    }
    long from = newest.previousAddress();
    while (walk.find(op.key, op.hash, from, log.headAddress())) {
      if (!walk.isSettled()) {
        return Extent.FUZZY;
      }
      if (walk.isTombstone()) {
        return Extent.WHOLE;
      }
      op.fold.addOlder(op, walk.address(), memory, log.offset(walk.address()), begin);
      if (!walk.isDelta()) {
        return Extent.WHOLE;
      }
      from = walk.previousAddress();
    }
    return walk.isEnded(begin) ? Extent.WHOLE : Extent.MORE_ON_DISK;
  }

  /** Counts the deltas in memory, from the record that {@code newest} has found; FUZZY never. */
  Extent count(Operation<?, ?, ?> op, ChainWalk newest, long begin) {
    deltas = newest.isDelta() ? 1 : 0;
    isLarge = newest.isLarge();
    bytes = bytesAt(newest);
    if (deltas == 0) {
      return Extent.WHOLE;
    }
    long from = newest.previousAddress();
    while (walk.find(op.key, op.hash, from, log.headAddress())) {
      bytes += bytesAt(walk);
      isLarge = walk.isLarge();
      if (!walk.isDelta()) {
        return Extent.WHOLE;
      }
      deltas++;
      from = walk.previousAddress();
    }
    return walk.isEnded(begin) ? Extent.WHOLE : Extent.MORE_ON_DISK;
  }

  private long bytesAt(ChainWalk found) {
    MemorySegment memory = log.memory();
    long record = log.offset(found.address());
    return found.isLarge()
        ? LargeValues.sound(LargeAnchor.read(memory, record)).bytes()
        : layout.recordBytes(memory, record);
  }

  /** How many bytes the records that were counted take, and the large value below them. */
  long bytes() {
    return bytes;
  }

  /** Whether the oldest record that was counted leads to a large value. */
  boolean isLarge() {
    return isLarge;
  }

  /** How many deltas {@link #count} has counted. */
  int deltas() {
    return deltas;
  }

  /** Where the part of the chain begins that is on disk. */
  long diskAddress() {
    return walk.address();
  }
}
