package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds the digest of a log file while it is written. It drops the digest if that is not a small
 * part of the file: where records are small, reading them is nearly as fast. For one thread.
 */
final class ShortDigest {
  /** A digest is at most this part of a file, which means records of some 600 bytes or more. */
  private static final int MOST_PART = 25;

  /** A shorter file does not show how long its records are. */
  private static final int TELLING_BYTES = 1 << 18;

  private static final byte[] NONE = new byte[0];

  private final Consumer<Runnable> turn;
  private StoreExport.@Nullable Digest digest;
  private long bytes;

  /**
   * @param digest null if there is no memory for it
   * @param turn runs code that needs the digest's memory
   */
  ShortDigest(StoreExport.@Nullable Digest digest, Consumer<Runnable> turn) {
    this.digest = digest;
    this.turn = turn;
  }

  /** Adds the next piece. */
  void add(LogPiece piece) {
    StoreExport.Digest open = digest;
    if (open == null) {
      return;
    }
    turn.accept(() -> open.add(piece));
    bytes += piece.bytes();
    if (bytes >= TELLING_BYTES && isLong(open)) {
      digest = null;
    }
  }

  /** The digest of everything that was added; empty if it was dropped. */
  byte[] bytes() {
    StoreExport.Digest open = digest;
    return open == null || isLong(open) ? NONE : open.bytes();
  }

  private boolean isLong(StoreExport.Digest open) {
    return open.length() > bytes / MOST_PART;
  }
}
