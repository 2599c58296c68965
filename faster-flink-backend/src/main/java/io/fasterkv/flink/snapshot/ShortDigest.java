package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The digest of a log file while it is written, which is given up when it is no small part of the
 * file: where records are small, reading them is nearly as good. For one thread.
 */
final class ShortDigest {
  /** A digest has at most this part of a file: records have some 600 bytes and more. */
  private static final int MOST_PART = 25;

  /** A shorter file does not say how long its records are. */
  private static final int TELLING_BYTES = 1 << 18;

  private static final byte[] NONE = new byte[0];

  private final Consumer<Runnable> turn;
  private StoreExport.@Nullable Digest digest;
  private long bytes;

  /**
   * Begins a digest.
   *
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

  /** The digest of all that was added; empty if it was given up. */
  byte[] bytes() {
    StoreExport.Digest open = digest;
    return open == null || isLong(open) ? NONE : open.bytes();
  }

  private boolean isLong(StoreExport.Digest open) {
    return open.length() > bytes / MOST_PART;
  }
}
