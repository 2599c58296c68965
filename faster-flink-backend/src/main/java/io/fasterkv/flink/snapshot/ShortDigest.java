package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import io.fasterkv.api.LogPiece;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The digest of a log file while it is written, which is given up when it is no small part of the
 * file: where records are small, reading them is nearly as good.
 */
final class ShortDigest implements AutoCloseable {
  /** A digest has at most this part of a file: records have some 600 bytes and more. */
  private static final int MOST_PART = 25;

  /** A shorter file does not say how long its records are. */
  private static final int TELLING_BYTES = 1 << 18;

  private static final byte[] NONE = new byte[0];

  private StoreExport.@Nullable Digest digest;
  private long bytes;

  ShortDigest(StoreExport export) {
    digest = export.tryDigest();
  }

  void add(LogPiece piece, MemorySegment content) {
    StoreExport.Digest open = digest;
    if (open == null) {
      return;
    }
    open.add(piece, content);
    bytes += piece.bytes();
    if (bytes >= TELLING_BYTES && isLong(open)) {
      close();
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

  @Override
  public void close() {
    if (digest != null) {
      digest.close();
      digest = null;
    }
  }
}
