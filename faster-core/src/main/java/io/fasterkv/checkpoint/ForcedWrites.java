package io.fasterkv.checkpoint;

import io.fasterkv.device.Transfers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Writes a file from its begin to its end, and forces it on a thread beside, a piece at a time, so
 * that the disk works while the next piece is being made. What a force throws is not lost: the next
 * write, or {@link #finish}, throws it. Used by one thread.
 */
final class ForcedWrites {
  private static final long PIECE_BYTES = 32L << 20;

  private final FileChannel channel;
  private CompletableFuture<Void> forcing = CompletableFuture.completedFuture(null);
  private long position;
  private long unforced;

  ForcedWrites(FileChannel channel) {
    this.channel = channel;
  }

  /** Where the next bytes go to. */
  long position() {
    return position;
  }

  /** Adds bytes; they may be used again when this returns. */
  void write(MemorySegment bytes) throws IOException {
    Transfers.writeFully(channel, bytes, position);
    position += bytes.byteSize();
    unforced += bytes.byteSize();
    if (unforced >= PIECE_BYTES) {
      unforced = 0;
      await();
      forcing = CompletableFuture.runAsync(this::force, ForcedWrites::beside);
    }
  }

  /** Returns when all is durable. */
  void finish() throws IOException {
    await();
    channel.force(true);
  }

  /** Waits for the force that is under way, if any; the channel may be closed after that. */
  void await() throws IOException {
    try {
      forcing.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof ForceFailed failed) {
        throw failed.cause;
      }
      throw e;
    }
  }

  private void force() {
    try {
      channel.force(false);
    } catch (IOException e) {
      throw new ForceFailed(e);
    }
  }

  private static void beside(Runnable task) {
    Thread.ofPlatform().daemon().name("faster-snapshot-force").start(task);
  }

  private static final class ForceFailed extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient IOException cause;

    ForceFailed(IOException cause) {
      super(cause);
      this.cause = cause;
    }
  }
}
