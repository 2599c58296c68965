package io.fasterkv.operation.version;

import io.fasterkv.index.BucketLatch;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import io.fasterkv.state.SystemState;
import org.jspecify.annotations.Nullable;

/**
 * The version of the store that an attempt of an operation belongs to, and what it may therefore do
 * with the records it finds (CPR, algorithms 4 and 5). Belongs to one operation; reusable.
 */
public final class AttemptVersion {
  /** How an attempt must treat the versions of records. */
  private enum Mode {
    /** It ignores versions: there is only one, or a latch keeps the other away. */
    PLAIN,
    /** It belongs to the old version, and there may be records of the new one. */
    OLD,
    /** It belongs to the new version, and may replace records of the old one. */
    NEW,
    /** It belongs to the new version, and other threads may still change records of the old one. */
    NEW_BESIDE_OLD
  }

  private Mode mode = Mode.PLAIN;

  /** Version bits in the headers of records that the attempt creates. */
  private long bits;

  /** Whether an attempt has begun. The fast path begins none: while it works, nothing shifts. */
  private boolean hasBits;

  /** Every record of the new version is at or above this address and has {@link #newBits}. */
  private long start;

  private long newBits;

  /** The latch of the key's bucket while the operation holds it. */
  private @Nullable BucketLatch latch;

  private boolean isExclusive;

  /** The version in which a pending update was accepted; 0 if the operation is not one. */
  private long acceptedIn;

  /** Whether the operation has its serial number. */
  private boolean isCounted;

  /** Whether the session is continuing the pending operation. */
  private boolean isTaken;

  /** Whether another thread has ended the operation. */
  private boolean isHandedOver;

  /** The exception of the user's functions in that case. */
  private @Nullable RuntimeException failure;

  public long bits() {
    return bits;
  }

  /** The version that the operation belongs to; its thread is protected, or between attempts. */
  public long of(SystemState state) {
    long newest = SystemState.version(state.word());
    return hasBits ? RecordInfo.versionUpTo(newest, bits) : newest;
  }

  /** Makes the next attempt ignore versions. */
  public void plain(long ownBits) {
    bits = ownBits;
    hasBits = true;
    if (mode != Mode.PLAIN) {
      mode = Mode.PLAIN;
    }
  }

  /** Makes the next attempt belong to the version before the one that begins at {@code from}. */
  public void old(long ownBits, long from, long othersBits) {
    bits = ownBits;
    hasBits = true;
    start = from;
    newBits = othersBits;
    mode = Mode.OLD;
  }

  /** Makes the next attempt belong to the version that begins at {@code from}. */
  public void fresh(long ownBits, long from, boolean isAlone) {
    bits = ownBits;
    hasBits = true;
    start = from;
    newBits = ownBits;
    mode = isAlone ? Mode.NEW : Mode.NEW_BESIDE_OLD;
  }

  /** Whether the attempt belongs to a new version while operations of the old one are running. */
  boolean isFresh() {
    return mode == Mode.NEW || mode == Mode.NEW_BESIDE_OLD;
  }

  /** Whether the attempt needs no latch and ignores the versions of records. */
  public boolean isPlain() {
    return mode == Mode.PLAIN;
  }

  /** Whether a record has a later version than the attempt, which must then be repeated. */
  public boolean isTooNew(long address, long info) {
    return mode == Mode.OLD && isNew(address, info);
  }

  /**
   * Whether a record has the version before the attempt's, so that it is replaced and never
   * changed.
   */
  public boolean isOld(long address, long info) {
    return isFresh() && !isNew(address, info);
  }

  /**
   * Whether other threads may be changing in place an old record that the attempt must not change.
   */
  public boolean mustWaitForOld() {
    return mode == Mode.NEW_BESIDE_OLD;
  }

  /**
   * Whether a record may be put above {@code head}: never one of the old version above a new one.
   */
  public boolean mayAppendAbove(HybridLog log, long head) {
    if (mode != Mode.OLD || head < start) {
      return true;
    }
    // A record that is no longer in memory may have either version.
    return head >= log.headAddress()
        && !isNew(head, RecordLayout.info(log.memory(), log.offset(head)));
  }

  private boolean isNew(long address, long info) {
    return address >= start && (info & RecordInfo.VERSION_MASK) == newBits;
  }

  public boolean isLatched() {
    return latch != null;
  }

  public void latched(BucketLatch taken, boolean exclusively) {
    latch = taken;
    isExclusive = exclusively;
  }

  public void unlatch() {
    BucketLatch held = latch;
    latch = null;
    if (held != null && isExclusive) {
      held.endExclude();
    } else if (held != null) {
      held.endShare();
    }
  }

  public long acceptedIn() {
    return acceptedIn;
  }

  /**
   * The operation is pending and stays in {@code version} whenever it ends; 0 if it is not bound to
   * one.
   */
  public void accepted(long version) {
    acceptedIn = version;
  }

  public boolean isCounted() {
    return isCounted;
  }

  public void counted() {
    isCounted = true;
  }

  public boolean isTaken() {
    return isTaken;
  }

  public void taken(boolean bySession) {
    isTaken = bySession;
  }

  public boolean isHandedOver() {
    return isHandedOver;
  }

  /** Another thread has ended the operation, possibly with an exception of the user's functions. */
  public void handedOver(@Nullable RuntimeException thrown) {
    isHandedOver = true;
    failure = thrown;
  }

  public @Nullable RuntimeException failure() {
    return failure;
  }

  /** Resets this after the operation has ended. */
  public void clear() {
    acceptedIn = 0;
    hasBits = false;
    isCounted = false;
    isTaken = false;
    isHandedOver = false;
    failure = null;
  }
}
