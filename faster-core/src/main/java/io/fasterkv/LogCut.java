package io.fasterkv;

import io.fasterkv.api.Versions;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.ScanRange;
import io.fasterkv.operation.core.Engine;

/**
 * A consistent view of a store at one moment: the records below one address of its log, which no
 * thread changes any more. Any thread may scan it, also several at a time.
 */
public final class LogCut implements AutoCloseable {
  private final Engine engine;
  private final long beginAddress;
  private final long endAddress;
  private final ReaderLease lease;

  /**
   * The caller has pinned the begin address. Closing the cut, or losing the last reference to it,
   * removes the pin.
   */
  LogCut(Engine engine, long beginAddress, long endAddress) {
    this.engine = engine;
    this.beginAddress = beginAddress;
    this.endAddress = endAddress;
    HybridLog log = engine.log();
    Runnable unpin = () -> log.pins().unpin(beginAddress);
    lease = new ReaderLease(this, () -> {}, unpin, log.failure().logger());
  }

  /**
   * Scans the cut. Waits until operations that were running at the moment of the cut have ended, so
   * it must not be called from inside an operation.
   *
   * @return a scan of all records; close it before the cut
   */
  public LogScan scan() {
    engine.log().cuts().awaitImmutable(endAddress);
    ScanRange range = ScanRange.whole(beginAddress, endAddress);
    // The scan references the cut, because it depends on the cut's pin.
    return new LogScan(engine, range, Versions.ALL, this::keep);
  }

  /** {@return the number of bytes of log that a scan reads} */
  public long bytes() {
    return endAddress - beginAddress;
  }

  /** Does nothing. The method reference keeps the cut reachable. */
  private void keep() {}

  /** Releases the cut. Close its scans first. */
  @Override
  public void close() {
    lease.close();
  }
}
