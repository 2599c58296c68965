package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.StoreException.BadConfig;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Receives a manifest's bytes: first a counter, which refuses a manifest that is too long to read,
 * then a buffer.
 */
final class ManifestBytes extends OutputStream {
  private final long most;
  private final @Nullable ByteBuffer target;
  private long count;

  private ManifestBytes(long most, @Nullable ByteBuffer target) {
    this.most = most;
    this.target = target;
  }

  /** Creates a counter of bytes, up to {@code most}. */
  static ManifestBytes counted(long most) {
    return new ManifestBytes(most, null);
  }

  /** Creates a stream that fills a buffer. */
  static ManifestBytes into(ByteBuffer target) {
    return new ManifestBytes(target.remaining(), target);
  }

  long count() {
    return count;
  }

  @Override
  public void write(int one) {
    add(1);
    if (target != null) {
      target.put((byte) one);
    }
  }

  @Override
  public void write(byte[] bytes, int from, int length) {
    add(length);
    if (target != null) {
      target.put(bytes, from, length);
    }
  }

  private void add(int length) {
    count += length;
    if (count > most) {
      throw new BadConfig(
          "the log has too many pages for a checkpoint's manifest: bytes="
              + count
              + " and above, allowed=up to "
              + most
              + "; compact or truncate the log, or keep it in a store with larger pages");
    }
  }
}
