package io.fasterkv.operation;

import io.fasterkv.index.BucketLatch;
import io.fasterkv.log.HybridLog;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import org.jspecify.annotations.Nullable;

/**
 * Which version of the store an attempt of an operation is of, and what that lets it do with the
 * records that it finds (CPR, algorithms 4 and 5). One operation's; used over and over.
 */
final class AttemptVersion {
  /** How an attempt has to mind the versions of records. */
  private enum Mode {
    /** Not at all: there is one version, or a latch keeps the other away. */
    PLAIN,
    /** It is of the old version, and records of the new one may be there. */
    OLD,
    /** It is of the new version, and may replace records of the old one. */
    NEW,
    /** It is of the new version, and others may still change records of the old one. */
    NEW_BESIDE_OLD
  }

  private Mode mode = Mode.PLAIN;

  /** What records that the attempt makes have in their headers. */
  private long bits;

  /** Every record of the new version lies here or above, and has {@link #newBits}. */
  private long start;

  private long newBits;

  /** The latch of the key's bucket, while the operation has it. */
  private @Nullable BucketLatch latch;

  private boolean isExclusive;

  /** In which version a pending update was accepted; 0 if the operation is none. */
  private long acceptedIn;

  /** Whether the operation has its serial number. */
  private boolean isCounted;

  /** Whether the session is going on with the operation, which is pending. */
  private boolean isTaken;

  /** Whether somebody else has ended the operation. */
  private boolean isHandedOver;

  /** What the user's functions threw then. */
  private @Nullable RuntimeException failure;

  long bits() {
    return bits;
  }

  /** Versions do not matter to the next attempt. */
  void plain(long ownBits) {
    bits = ownBits;
    if (mode != Mode.PLAIN) {
      mode = Mode.PLAIN;
    }
  }

  /** The next attempt is of the version before the one that begins at {@code from}. */
  void old(long ownBits, long from, long othersBits) {
    bits = ownBits;
    start = from;
    newBits = othersBits;
    mode = Mode.OLD;
  }

  /** The next attempt is of the version that begins at {@code from}. */
  void fresh(long ownBits, long from, boolean isAlone) {
    bits = ownBits;
    start = from;
    newBits = ownBits;
    mode = isAlone ? Mode.NEW : Mode.NEW_BESIDE_OLD;
  }

  /** Whether the attempt is of a version that has just begun, while the one before is at work. */
  boolean isFresh() {
    return mode == Mode.NEW || mode == Mode.NEW_BESIDE_OLD;
  }

  /** Whether no latch is needed, and no record's version. */
  boolean isPlain() {
    return mode == Mode.PLAIN;
  }

  /** Whether a record is of a version after the attempt's, which then has to come again. */
  boolean isTooNew(long address, long info) {
    return mode == Mode.OLD && isNew(address, info);
  }

  /**
   * Whether a record is of the version before the attempt's, so that it is replaced and never
   * changed.
   */
  boolean isOld(long address, long info) {
    return isFresh() && !isNew(address, info);
  }

  /** Whether others may be changing an old record in place that the attempt may not change. */
  boolean mustWaitForOld() {
    return mode == Mode.NEW_BESIDE_OLD;
  }

  /** Whether a record may be put above {@code head}: never one of the old version above the new. */
  boolean mayGoAbove(HybridLog log, long head) {
    if (mode != Mode.OLD || head < start) {
      return true;
    }
    // What has left memory already could be of either version.
    return head >= log.headAddress()
        && !isNew(head, RecordLayout.info(log.memory(), log.offset(head)));
  }

  private boolean isNew(long address, long info) {
    return address >= start && (info & RecordInfo.VERSION_MASK) == newBits;
  }

  boolean isLatched() {
    return latch != null;
  }

  void latched(BucketLatch taken, boolean exclusively) {
    latch = taken;
    isExclusive = exclusively;
  }

  void unlatch() {
    BucketLatch held = latch;
    latch = null;
    if (held != null && isExclusive) {
      held.endExclude();
    } else if (held != null) {
      held.endShare();
    }
  }

  long acceptedIn() {
    return acceptedIn;
  }

  /**
   * The operation is pending, and belongs to {@code version} whenever it ends; 0 if it does not.
   */
  void accepted(long version) {
    acceptedIn = version;
  }

  boolean isCounted() {
    return isCounted;
  }

  void counted() {
    isCounted = true;
  }

  boolean isTaken() {
    return isTaken;
  }

  void taken(boolean bySession) {
    isTaken = bySession;
  }

  boolean isHandedOver() {
    return isHandedOver;
  }

  /** Somebody else has ended the operation, maybe by an exception of the user's functions. */
  void handedOver(@Nullable RuntimeException thrown) {
    isHandedOver = true;
    failure = thrown;
  }

  @Nullable RuntimeException failure() {
    return failure;
  }

  /** The operation has ended. */
  void clear() {
    acceptedIn = 0;
    isCounted = false;
    isTaken = false;
    isHandedOver = false;
    failure = null;
  }
}
