package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;
import java.util.function.LongSupplier;

/**
 * Decides how far compaction goes now. While nothing holds the log's begin address, it takes
 * another piece as long as the log is longer than the length at which a run begins: the later a
 * piece is compacted, the more of it is dead. (Without writes that is not so; see {@link
 * WriteQuiet}.)
 *
 * <p>While a checkpoint or a cut holds the begin address, compacting a piece takes storage for its
 * copies at once. It releases the piece's own storage only when the next checkpoint exists and the
 * older ones are removed, which may be soon or never. So a piece is taken while at most as many
 * bytes are held below the begin address as are dead above it.
 *
 * <p>This rule needs no knowledge of how often checkpoints are taken or how many are kept. With
 * {@code L} live bytes, all but a few of which are never written, and {@code W} bytes written while
 * a checkpoint is kept, the log reaches {@code S} bytes and the device holds {@code 2S - L}, where
 * {@code (S - L) * (S - L) = W * S}. That is close to the minimum for a log that is compacted from
 * its begin, {@code (sqrt(L) + sqrt(W))} squared. Twice the live bytes suffice while {@code W} is
 * at most an eighth of them. If there are no more checkpoints, no more is copied than is written,
 * and compaction always continues when the log grows.
 */
final class PinnedLogLimit {
  /**
   * A run may treat this part of the log as dead without knowing it; so a run over a held log ends
   * after this many checkpoints.
   */
  private static final long LEAST_SHARE = 8;

  private static final long PIECES = 64;

  private final HybridLog log;
  private final RunTrigger trigger;
  private final LongSupplier memoryBytes;

  /**
   * @param memoryBytes the log's memory, which may change
   */
  PinnedLogLimit(HybridLog log, RunTrigger trigger, LongSupplier memoryBytes) {
    this.log = log;
    this.trigger = trigger;
    this.memoryBytes = memoryBytes;
  }

  /** Length of a piece of a held log: at least a page, at most the log's memory. */
  long pieceBytes() {
    return Math.clamp(log.lengthBytes() / PIECES, log.pageBytes(), memoryBytes.getAsLong());
  }

  /**
   * Whether a run over the whole log may take a piece now.
   *
   * @param liveBytes bytes that are known to be live
   */
  boolean allows(long piece, long liveBytes) {
    if (!log.pins().isHeld()) {
      return log.lengthBytes() > trigger.continuesAbove(liveBytes);
    }
    return allows(piece, log.pins().heldBytes(), log.lengthBytes(), liveBytes);
  }

  /** Like {@link #allows(long, long)}, for a log of {@code logBytes} above {@code heldBytes}. */
  static boolean allows(long piece, long heldBytes, long logBytes, long liveBytes) {
    long dead = logBytes - liveBytes;
    return heldBytes + piece <= Math.max(dead, Math.max(logBytes / LEAST_SHARE, piece));
  }

  /**
   * Length that the log may reach, besides its memory, before writers wait for compaction. It is
   * large enough that compaction always has work while writers wait for it.
   */
  long mayBeLong(long liveBytes) {
    boolean isHeld = log.pins().isHeld();
    long continuesAbove = isHeld ? liveBytes + log.pins().heldBytes() : 0;
    long wanted = isHeld ? liveBytes + liveBytes / 2 : 2 * liveBytes;
    return Math.max(wanted, Math.max(continuesAbove, trigger.dueAt(liveBytes, isHeld)));
  }
}
