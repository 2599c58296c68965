package io.fasterkv.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds the addresses that divide the log into regions (SIGMOD'18, sections 5 and 6). Each only
 * grows:
 *
 * <pre>
 *   removable &lt;= begin &lt;= head &lt;= flushed &lt;= safeReadOnly &lt;= readOnly &lt;= tail
 *                            closed &lt;= head
 *
 *   0 ..... begin ......... head ............ safeReadOnly ...... readOnly ........ tail
 *   |  gone   |   on disk    |  read-only     |      fuzzy        |    mutable       |
 * </pre>
 *
 * <p>A mark moves before its effect is safe: {@code safeReadOnly} follows {@code readOnly}, and
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

  /** Sets all marks for a log that holds nothing in memory. */
  LogMarks(long beginAddress, long startAddress) {
    removable.setRelease(beginAddress);
    begin.setRelease(beginAddress);
    closed.setRelease(startAddress);
    head.setRelease(startAddress);
    flushed.setRelease(startAddress);
    safeReadOnly.setRelease(startAddress);
    readOnly.setRelease(startAddress);
  }

  /** No reader and no index image needs a chain that is completely below this address. */
  long removable() {
    return removable.getAcquire();
  }

  /** Records below this address are deleted. */
  long begin() {
    return begin.getAcquire();
  }

  /** No thread uses memory below this address any more: its frames can be reused. */
  long closed() {
    return closed.getAcquire();
  }

  /** Records below this address are on disk only. */
  long head() {
    return head.getAcquire();
  }

  /** All bytes below this address have been written to the device. */
  long flushed() {
    return flushed.getAcquire();
  }

  /** No thread updates records below this address in place: all have seen the read-only mark. */
  long safeReadOnly() {
    return safeReadOnly.getAcquire();
  }

  /** Records at or above this address may be updated in place. */
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
