package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;

/**
 * How far compaction goes now. While nothing holds the log's begin, it takes a piece as long as the
 * log is longer than one is when a pass begins: what it comes to later is dead more often. (Where
 * nobody writes it is not, see {@link WriteQuiet}.)
 *
 * <p>While a checkpoint or a cut holds the begin, a piece that is compacted then takes storage for
 * its copies at once, and gives back its own when the next checkpoint is there and the older ones
 * are removed, which may be soon or never. So a piece is taken as long as no more bytes lie below
 * the begin than are dead above it.
 *
 * <p>That needs no knowledge of how often there are checkpoints, nor of how many are kept. With
 * {@code L} live bytes, of which all but a few are never written, and {@code W} bytes written while
 * a checkpoint is kept, the log becomes {@code S} bytes long and the device has {@code 2S - L},
 * where {@code (S - L) * (S - L) = W * S}: close to the least that is possible for a log that is
 * compacted from its begin on, which is {@code (sqrt(L) + sqrt(W))} squared. Twice the live bytes
 * suffice as long as {@code W} is up to an eighth of them. If no checkpoint ever comes, no more is
 * copied than is written, and compaction always goes on when the log becomes longer.
 */
final class HeldShare {
  /** What may be unknown to be dead: a pass over such a log ends after so many checkpoints. */
  private static final long LEAST_SHARE = 8;

  private static final long PIECES = 64;

  private final HybridLog log;
  private final PassTrigger trigger;
  private final long memoryBytes;

  HeldShare(HybridLog log, PassTrigger trigger, long memoryBytes) {
    this.log = log;
    this.trigger = trigger;
    this.memoryBytes = memoryBytes;
  }

  /** How much of a log that is held is taken at a time: at least a page, at most its memory. */
  long pieceBytes() {
    return Math.clamp(log.lengthBytes() / PIECES, log.pageBytes(), memoryBytes);
  }

  /**
   * Whether a piece may be taken now by a pass over the whole log.
   *
   * @param liveBytes how much is known to be live
   */
  boolean allows(long piece, long liveBytes) {
    if (!log.holds().isHeld()) {
      return log.lengthBytes() > trigger.goesOnAt(liveBytes);
    }
    return allows(piece, log.holds().heldBytes(), log.lengthBytes(), liveBytes);
  }

  /** As {@link #allows(long, long)}, for a log of {@code logBytes} above {@code heldBytes}. */
  static boolean allows(long piece, long heldBytes, long logBytes, long liveBytes) {
    long dead = logBytes - liveBytes;
    return heldBytes + piece <= Math.max(dead, Math.max(logBytes / LEAST_SHARE, piece));
  }

  /**
   * How long the log may become before writers are to wait for compaction, beside what its memory
   * takes. It is never so short that compaction has nothing to do, and would wait for writers.
   */
  long mayBeLong(long liveBytes) {
    boolean isHeld = log.holds().isHeld();
    long goesOnAt = isHeld ? liveBytes + log.holds().heldBytes() : 0;
    long wanted = isHeld ? liveBytes + liveBytes / 2 : 2 * liveBytes;
    return Math.max(wanted, Math.max(goesOnAt, trigger.dueAt(liveBytes, isHeld)));
  }
}
