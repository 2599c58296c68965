package io.fasterkv.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Where in the log a record may be updated in place, and where an update copies (SIGMOD'18, section
 * 6): at {@link #inPlaceFrom()} and above the first, below {@link #copyBelow()} the second, and in
 * between some thread may still be updating. Cuts and freezes move these marks for some time; the
 * read-only mark moves them for ever.
 *
 * <p>The end of a freeze is the only moment at which a mark falls. Who updates in place therefore
 * reads both marks before the index entry: the first one falls when every copy by the second one,
 * from before the thaw, is in its chain, so who has seen it fallen finds these copies.
 */
public final class UpdateRegions {
  private final LogMarks marks;
  private final boolean appendOnly;

  /** The read-only mark, or the end of what is frozen, if that is higher. */
  private final AtomicLong inPlaceFrom;

  /** Below it all is frozen, and every thread has seen that; 0 if nothing is. */
  private final AtomicLong safeFrozen = new AtomicLong();

  /** Below it all was frozen once. */
  private final AtomicLong wasFrozen = new AtomicLong();

  /** What got into no chain below it stays out of all. */
  private final AtomicLong fillFloor = new AtomicLong();

  private final AtomicLong cutsBegun = new AtomicLong();
  private final AtomicLong cutsEnded = new AtomicLong();

  UpdateRegions(LogMarks marks, boolean appendOnly) {
    this.marks = marks;
    this.appendOnly = appendOnly;
    inPlaceFrom = new AtomicLong(appendOnly ? Long.MAX_VALUE : marks.readOnly());
  }

  /** At it and above an update is made in place; in an append-only log, nowhere. */
  public long inPlaceFrom() {
    return inPlaceFrom.getAcquire();
  }

  /**
   * Below it an update copies; between it and {@link #inPlaceFrom()} some thread may be updating.
   */
  public long copyBelow() {
    return appendOnly ? Long.MAX_VALUE : Math.max(marks.safeReadOnly(), safeFrozen.getAcquire());
  }

  /**
   * Below it nobody updates a record in place that has a newer one of its key above it. What was
   * frozen is that for ever: who puts a record above one that may be updated in place takes care of
   * that, and what was put there while it was frozen needs no care. So no delta is put above such a
   * record in the fuzzy region, as it is elsewhere.
   */
  public long settledBelow() {
    return Math.max(copyBelow(), wasFrozen.getAcquire());
  }

  /**
   * Below it nobody updates a record in place any more, also when the caller has left its epoch:
   * what is only frozen may thaw.
   */
  public long immutableBelow() {
    return appendOnly ? Long.MAX_VALUE : marks.safeReadOnly();
  }

  /**
   * Names a moment in which no cut was being made, or is negative. If it is the same later, no
   * record that was allocated in between is separated by a cut from one that was mutable before.
   */
  public long uncutSince() {
    long ended = cutsEnded.get();
    return cutsBegun.get() == ended ? ended : -1;
  }

  /**
   * From now on no record below {@code address} gets into a chain that was not in one, but for
   * operations that are under way: a checkpoint has been told what is there.
   */
  public void fillNothingBelow(long address) {
    fillFloor.accumulateAndGet(address, Math::max);
  }

  /** Whether a record that got into no chain may be filled again, for a protected caller. */
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
   * Moves the read-only mark, after the mark for updates in place: from the moment when the first
   * has moved any thread may tell it to all, and who comes after that must find the second moved.
   * The lock keeps a thaw from putting the second below the first; it is taken once a page and once
   * a cut.
   */
  void advanceReadOnly(long address) {
    synchronized (safeFrozen) {
      inPlaceFrom.accumulateAndGet(address, Math::max);
      marks.advanceReadOnly(address);
    }
  }

  /** Operations that begin from now on update nothing below {@code end} in place. */
  void beginFreeze(long end) {
    fillNothingBelow(end);
    if (!appendOnly) {
      inPlaceFrom.accumulateAndGet(end, Math::max);
    }
  }

  /** Every thread has seen {@link #beginFreeze}. */
  void frozen(long end) {
    wasFrozen.setRelease(end);
    safeFrozen.setRelease(end);
  }

  /** Nobody takes anything to be frozen from now on. */
  void beginThaw() {
    safeFrozen.setRelease(0);
  }

  /** Every thread has seen {@link #beginThaw}: what is not read-only is updated in place again. */
  void endThaw() {
    synchronized (safeFrozen) {
      if (!appendOnly) {
        inPlaceFrom.set(marks.readOnly());
      }
    }
  }
}
