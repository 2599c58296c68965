package io.fasterkv.compaction;

import java.util.function.LongSupplier;

/**
 * Tells whether next to no values are written: then few die by waiting, and a shorter log is
 * quicker to read. (Deltas and deletions do not count, so passes beside these do not wait.) For the
 * thread that compacts, which asks as often as it looks at the log.
 */
final class WriteQuiet {
  /** A second, of looks with pauses between them. */
  static final int LOOKS = 100;

  private final LongSupplier writtenBytes;
  private final long leastBytes;
  private long writtenBefore;
  private int looks;

  /**
   * @param writtenBytes how much has been written
   * @param leastBytes so much is something
   */
  WriteQuiet(LongSupplier writtenBytes, long leastBytes) {
    this.writtenBytes = writtenBytes;
    this.leastBytes = leastBytes;
    writtenBefore = writtenBytes.getAsLong();
  }

  /** Whether little was written during the last {@value #LOOKS} looks. */
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
