package io.fasterkv;

import io.fasterkv.api.Versions;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.Engine;

/**
 * A moment of a store: all that lies below an address of its log, which nobody changes any more.
 * Any thread may scan it, also several at a time.
 */
public final class LogCut implements AutoCloseable {
  private final Engine engine;
  private final long beginAddress;
  private final long endAddress;
  private final ReaderLease lease;

  /** The begin is pinned; closing the cut, or forgetting it, ends that. */
  LogCut(Engine engine, long beginAddress, long endAddress) {
    this.engine = engine;
    this.beginAddress = beginAddress;
    this.endAddress = endAddress;
    lease = new ReaderLease(this, () -> {}, () -> engine.log().holds().unpin(beginAddress));
  }

  /**
   * Scans the cut. Waits until operations that were under way at the moment of the cut have ended;
   * must not be called from inside one.
   */
  public LogScan scan() {
    engine.log().awaitImmutable(endAddress);
    ScanRange range = ScanRange.whole(beginAddress, endAddress);
    // The scan keeps the cut, whose pin it needs.
    return new LogScan(engine, range, Versions.ALL, this::keep);
  }

  /** Bytes of log that a scan reads. */
  public long bytes() {
    return endAddress - beginAddress;
  }

  /** Does nothing: who can call it refers to the cut. */
  private void keep() {}

  /** Lets go of the cut; its scans are closed before. */
  @Override
  public void close() {
    lease.close();
  }
}
