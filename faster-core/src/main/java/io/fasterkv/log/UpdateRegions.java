package io.fasterkv.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds the marks that decide whether an update of a record is made in place or copies it
 * (SIGMOD'18, section 6): in place at or above {@link #inPlaceFrom()}, by copy below {@link
 * #copyBelow()}. Between the two, some thread may still be updating in place. Cuts and freezes move
 * these marks temporarily; the read-only mark moves them permanently.
 *
 * <p>A mark falls only at the end of a freeze. An in-place update therefore reads both marks before
 * the index entry: the first mark falls only after every copy made because of the second one,
 * before the thaw, is in its chain. So a thread that has seen it fall finds these copies.
 */
public final class UpdateRegions {
  private final LogMarks marks;
  private final boolean appendOnly;

  /** The read-only mark, or the end of the frozen part if that is higher. */
  private final AtomicLong inPlaceFrom;

  /** Everything below it is frozen, and every thread has seen that; 0 if nothing is frozen. */
  private final AtomicLong safeFrozen = new AtomicLong();

  /** Everything below it was frozen at some time. */
  private final AtomicLong wasFrozen = new AtomicLong();

  /** A record below it that is in no chain must stay out of all chains. */
  private final AtomicLong fillFloor = new AtomicLong();

  private final AtomicLong cutsBegun = new AtomicLong();
  private final AtomicLong cutsEnded = new AtomicLong();

  UpdateRegions(LogMarks marks, boolean appendOnly) {
    this.marks = marks;
    this.appendOnly = appendOnly;
    inPlaceFrom = new AtomicLong(appendOnly ? Long.MAX_VALUE : marks.readOnly());
  }

  /** Updates at or above this address are made in place; never in an append-only log. */
  public long inPlaceFrom() {
    return inPlaceFrom.getAcquire();
  }

  /**
   * Updates below this address copy; between it and {@link #inPlaceFrom()} some thread may still be
   * updating in place.
   */
  public long copyBelow() {
    return appendOnly ? Long.MAX_VALUE : Math.max(marks.safeReadOnly(), safeFrozen.getAcquire());
  }

  /**
   * No record below this address that has a newer record of its key above it is updated in place. A
   * frozen record stays so for ever: a thread that puts a record above one that may be updated in
   * place ensures it, and a record put there during the freeze needs no such care. So no delta is
   * put above such a record in the fuzzy region, as it is elsewhere.
   */
  public long settledBelow() {
    return Math.max(copyBelow(), wasFrozen.getAcquire());
  }

  /**
   * No record below this address is updated in place any more, even after the caller has left its
   * epoch. It does not include records that are only frozen, since they may thaw.
   */
  public long immutableBelow() {
    return appendOnly ? Long.MAX_VALUE : marks.safeReadOnly();
  }

  /**
   * Identifies a moment without a cut in progress; negative while one is in progress. If the value
   * is the same later, no cut separates a record allocated in between from one that was mutable
   * before.
   */
  public long uncutSince() {
    long ended = cutsEnded.get();
    return cutsBegun.get() == ended ? ended : -1;
  }

  /**
   * From now on no record below {@code address} enters a chain for the first time, except by
   * operations already under way: a checkpoint has recorded what is there.
   */
  public void fillNothingBelow(long address) {
    fillFloor.accumulateAndGet(address, Math::max);
  }

  /** Whether a protected caller may reuse a record that is in no chain. */
  public boolean mayFillAgain(long address) {
    return address >= marks.readOnly() && address >= fillFloor.getAcquire();
  }

  AtomicLong inPlaceMark() {
    return inPlaceFrom;
  }

  void beginCut() {
    cutsBegun.incrementAndGet();
  }

  void endCut() {
    cutsEnded.incrementAndGet();
  }

  /**
   * Moves the read-only mark, and before it the mark for updates in place. The order matters: as
   * soon as the read-only mark has moved, any thread may announce it, and a thread that starts
   * after that must find the other mark moved. The lock keeps a thaw from setting that mark below
   * the read-only mark; it is taken once a page and once a cut.
   */
  void advanceReadOnly(long address) {
    synchronized (safeFrozen) {
      inPlaceFrom.accumulateAndGet(address, Math::max);
      marks.advanceReadOnly(address);
    }
  }

  /** From now on no operation that starts updates anything below {@code end} in place. */
  void beginFreeze(long end) {
    fillNothingBelow(end);
    if (!appendOnly) {
      inPlaceFrom.accumulateAndGet(end, Math::max);
    }
  }

  /** Called when every thread has seen {@link #beginFreeze}. */
  void frozen(long end) {
    wasFrozen.setRelease(end);
    safeFrozen.setRelease(end);
  }

  /** From now on no thread treats a record as frozen. */
  void beginThaw() {
    safeFrozen.setRelease(0);
  }

  /**
   * Called when every thread has seen {@link #beginThaw}: records that are not read-only are
   * updated in place again.
   */
  void endThaw() {
    synchronized (safeFrozen) {
      if (!appendOnly) {
        inPlaceFrom.set(marks.readOnly());
      }
    }
  }
}
