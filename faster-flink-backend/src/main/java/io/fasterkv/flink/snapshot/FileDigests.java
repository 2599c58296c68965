package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.StoreExport;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Builds the digests of the files of one checkpoint. Several files are written at a time, but they
 * take turns with one page of the store's scratch memory, which the task needs too. Reading a piece
 * here takes far less time than writing it to checkpoint storage, except while the log is still at
 * its origin. If no page is free, the files have no digests. Safe for all threads.
 */
final class FileDigests implements AutoCloseable {
  private final Cancellation cancellation;
  private final StoreExport.@Nullable Digest page;
  private final ReentrantLock turn = new ReentrantLock();
  private volatile boolean isClosed;

  /** Allocates the page. */
  FileDigests(StoreExport export, Cancellation cancellation) {
    this.cancellation = cancellation;
    page = export.tryDigest();
  }

  /** The digest of one file. */
  ShortDigest of() {
    return new ShortDigest(page == null ? null : page.another(), this::inTurn);
  }

  private void inTurn(Runnable part) {
    turn.lock();
    try {
      if (isClosed) {
        throw new CancellationException("the snapshot was cancelled");
      }
      cancellation.inStore(part::run);
    } finally {
      turn.unlock();
      freeIfClosed();
    }
  }

  /** Frees the page now, or when the thread that is using it has finished its turn. */
  @Override
  public void close() {
    isClosed = true;
    freeIfClosed();
  }

  /** Called after each turn by the thread that had it. A digest is closed once. */
  private void freeIfClosed() {
    if (isClosed && page != null && turn.tryLock()) {
      try {
        page.close();
      } finally {
        turn.unlock();
      }
    }
  }
}
