package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Builds the digests of the files of one checkpoint. Several files are written at a time, but they
 * take turns with one page of the store's scratch memory, which the task needs too. Reading a piece
 * here takes far less time than writing it to checkpoint storage. If no page is free, the files
 * have no digests. Safe for all threads.
 */
final class FileDigests implements AutoCloseable {
  private final Cancellation cancellation;
  private final StoreExport.@Nullable Digest page;
  private boolean isClosed;

  /** Allocates the page. */
  FileDigests(StoreExport export, Cancellation cancellation) {
    this.cancellation = cancellation;
    page = export.tryDigest();
  }

  /** The digest of one file. */
  ShortDigest of() {
    return new ShortDigest(page == null ? null : page.another(), this::inTurn);
  }

  private synchronized void inTurn(Runnable part) {
    if (isClosed) {
      throw new CancellationException("the snapshot was cancelled");
    }
    cancellation.inStore(part::run);
  }

  /** Frees the page, after a thread that is using it has finished its turn. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (page != null) {
      page.close();
    }
  }
}
