package io.fasterkv.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The addresses that divide the log into regions (SIGMOD'18, sections 5 and 6). Each only grows:
 *
 * <pre>
 *   removable &lt;= begin &lt;= head &lt;= flushed &lt;= safeReadOnly &lt;= readOnly &lt;= tail
 *                            closed &lt;= head
 *
 *   0 ..... begin ......... head ............ safeReadOnly ...... readOnly ........ tail
 *   |  gone   |   on disk    |  read-only     |      fuzzy        |    mutable       |
 * </pre>
 *
 * <p>A mark is moved first and acted upon later: {@code safeReadOnly} follows {@code readOnly}, and
 * {@code closed} follows {@code head}, when the epoch in which the mark moved has become safe.
 */
final class LogMarks {
  private final AtomicLong removable = new AtomicLong();
  private final AtomicLong begin = new AtomicLong();
  private final AtomicLong closed = new AtomicLong();
  private final AtomicLong head = new AtomicLong();
  private final AtomicLong flushed = new AtomicLong();
  private final AtomicLong safeReadOnly = new AtomicLong();
  private final AtomicLong readOnly = new AtomicLong();

  /** All marks at the first address of a log that holds nothing in memory. */
  LogMarks(long beginAddress, long startAddress) {
    removable.setRelease(beginAddress);
    begin.setRelease(beginAddress);
    closed.setRelease(startAddress);
    head.setRelease(startAddress);
    flushed.setRelease(startAddress);
    safeReadOnly.setRelease(startAddress);
    readOnly.setRelease(startAddress);
  }

  /** A chain that lies wholly below it is wanted by nobody, nor by an image of the index. */
  long removable() {
    return removable.getAcquire();
  }

  /** Below it nothing exists any more. */
  long begin() {
    return begin.getAcquire();
  }

  /** Below it no thread looks into memory any more: the frames can be used again. */
  long closed() {
    return closed.getAcquire();
  }

  /** Below it a record is on disk only. */
  long head() {
    return head.getAcquire();
  }

  /** Below it all bytes have been written to the device. */
  long flushed() {
    return flushed.getAcquire();
  }

  /** Below it no thread updates in place: all have seen the read-only mark. */
  long safeReadOnly() {
    return safeReadOnly.getAcquire();
  }

  /** At it and above a record may be updated in place. */
  long readOnly() {
    return readOnly.getAcquire();
  }

  AtomicLong headMark() {
    return head;
  }

  boolean advanceRemovable(long address) {
    return advance(removable, address);
  }

  boolean advanceBegin(long address) {
    return advance(begin, address);
  }

  boolean advanceClosed(long address) {
    return advance(closed, address);
  }

  boolean advanceHead(long address) {
    return advance(head, address);
  }

  boolean advanceFlushed(long address) {
    return advance(flushed, address);
  }

  boolean advanceSafeReadOnly(long address) {
    return advance(safeReadOnly, address);
  }

  boolean advanceReadOnly(long address) {
    return advance(readOnly, address);
  }

  /** Moves a mark forward, never back; with a full fence. */
  private static boolean advance(AtomicLong mark, long address) {
    for (long now = mark.get(); now < address; now = mark.get()) {
      if (mark.compareAndSet(now, address)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return "begin="
        + begin
        + ", closed="
        + closed
        + ", head="
        + head
        + ", flushed="
        + flushed
        + ", safeReadOnly="
        + safeReadOnly
        + ", readOnly="
        + readOnly;
  }
}
