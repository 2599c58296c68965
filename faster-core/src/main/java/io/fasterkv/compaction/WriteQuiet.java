package io.fasterkv.compaction;

import java.util.function.LongSupplier;

/**
 * Detects that hardly anything is written. Then waiting does not make more records dead, and a
 * shorter log is faster to read. A run that waits counts values only: deltas and deletions do not
 * make it wait. For the compacting thread, which asks each time it checks the log.
 */
final class WriteQuiet {
  /** A second of checks with pauses between them. */
  static final int LOOKS = 100;

  private final LongSupplier writtenBytes;
  private final long leastBytes;
  private long writtenBefore;
  private int looks;

  /**
   * @param writtenBytes total bytes written
   * @param leastBytes writes below this count as none
   */
  WriteQuiet(LongSupplier writtenBytes, long leastBytes) {
    this.writtenBytes = writtenBytes;
    this.leastBytes = leastBytes;
    writtenBefore = writtenBytes.getAsLong();
  }

  /** Forgets the checks until now, so that the next answer takes as many again. */
  void countAgain() {
    looks = 0;
  }

  /** Whether little was written during the last {@value #LOOKS} checks. */
  boolean isQuiet() {
    long written = writtenBytes.getAsLong();
    if (written - writtenBefore >= leastBytes) {
      writtenBefore = written;
      looks = 0;
      return false;
    }
    looks = Math.min(looks + 1, LOOKS);
    return looks == LOOKS;
  }
}
