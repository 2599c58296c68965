package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the digests of the files of one checkpoint. Several files are written at a time, but all of
 * them take turns with one page of the store's scratch memory, which the task needs too: reading a
 * piece here takes far less time than writing it to checkpoint storage. Without a page there are no
 * digests. Safe for all threads.
 */
final class FileDigests implements AutoCloseable {
  private final Cancellation cancellation;
  private final StoreExport.@Nullable Digest page;
  private boolean isClosed;

  /** Takes the page. */
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

  /** Gives the page back, after the turn of a thread that uses it now. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (page != null) {
      page.close();
    }
  }
}
