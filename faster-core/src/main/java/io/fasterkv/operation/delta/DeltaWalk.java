package io.fasterkv.operation.delta;

import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.LargeWork;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.search.ChainWalk;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;

/**
 * Collects a value whose newest record is a delta, as far as it is in memory.
 *
 * <p>Only the newest delta of a key may be changing. A record below it in the fuzzy region may
 * still receive an update that began before the delta was appended. So an operation that needs the
 * whole value retries until the region has moved past that record; then nothing below the newest
 * delta changes, and the value is the one that the key had when the newest delta was read. For one
 * session; reusable.
 */
public final class DeltaWalk {

  /** How far the value was collected. */
  public enum Extent {
    WHOLE,
    /** The rest is on disk, from {@link #diskAddress()} on. */
    MORE_ON_DISK,
    /** A part may still be changing: the operation must retry. */
    FUZZY
  }

  private final HybridLog log;
  private final ChainWalk walk;
  private final RecordLayout layout;
  private int deltas;
  private long bytes;
  private boolean isLarge;

  public DeltaWalk(Engine engine, ChainWalk other) {
    log = engine.log();
    layout = engine.layout();
    walk = other.another();
  }

  /**
   * Collects into the operation's fold, starting at the newest record, a delta, that {@code newest}
   * has found.
   */
  public Extent gather(Operation<?, ?, ?> op, ChainWalk newest, long begin) {
    MemorySegment memory = log.memory();
    long record = log.offset(newest.address());
    if (newest.isStable()) {
      op.fold.open(newest.address(), memory, record);
    } else {
      op.fold.openApart(newest.address(), memory, record);
    }
    long from = newest.previousAddress();
    while (walk.find(op.key, op.hash, from, log.headAddress())) {
      if (!walk.isSettled()) {
        return Extent.FUZZY;
      }
      if (walk.isTombstone()) {
        return Extent.WHOLE;
      }
      op.fold.addOlder(walk.address(), memory, log.offset(walk.address()), begin);
      if (!walk.isDelta()) {
        return Extent.WHOLE;
      }
      from = walk.previousAddress();
    }
    return walk.isEnded(begin) ? Extent.WHOLE : Extent.MORE_ON_DISK;
  }

  /**
   * Counts the deltas in memory, starting at the record that {@code newest} has found; never
   * returns FUZZY.
   */
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
        ? LargeWork.sound(LargeAnchor.read(memory, record)).bytes()
        : layout.recordBytes(memory, record);
  }

  /** Length of the counted records and of the large value below them. */
  long bytes() {
    return bytes;
  }

  /** Whether the oldest counted record has a large value. */
  boolean isLarge() {
    return isLarge;
  }

  /** Number of deltas counted by {@link #count}. */
  int deltas() {
    return deltas;
  }

  /** Address where the chain continues on disk. */
  public long diskAddress() {
    return walk.address();
  }
}
