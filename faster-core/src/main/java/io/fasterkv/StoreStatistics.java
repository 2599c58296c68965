package io.fasterkv;

import io.fasterkv.api.statistics.CompactionStats;
import io.fasterkv.api.statistics.IndexStatistics;
import io.fasterkv.api.statistics.MemoryUse;
import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.compaction.Compactor;
import io.fasterkv.compaction.LogUpkeep;
import io.fasterkv.index.IndexTable;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.version.SessionCounters;

/** Statistics of a store. Safe for all threads. */
public final class StoreStatistics {
  private final StoreParts parts;
  private final Engine engine;
  private final ClosingGate gate;
  private final Compactor compactor;
  private final LogUpkeep upkeep;

  StoreStatistics(StoreParts parts, ClosingGate gate, Compactor compactor, LogUpkeep upkeep) {
    this.parts = parts;
    this.gate = gate;
    this.compactor = compactor;
    this.upkeep = upkeep;
    engine = parts.engine();
  }

  /** {@return how full the hash index is, and how long its chains are; no scan is needed} */
  public IndexStatistics index() {
    gate.requireOpen();
    IndexTable table = engine.index().newestTable();
    SessionCounters.Sums sums = engine.sessionCounters().sums();
    return new IndexStatistics(
        table.geometry().bytes(),
        table.mainBuckets(),
        table.geometry().overflowBuckets(),
        table.overflowBucketsUsed(),
        engine.index().entries(),
        table.saturatedChains(),
        sums.walks(),
        sums.inMemory(),
        sums.onDisk());
  }

  /** {@return in which region of the log operations have found their keys} */
  public RegionHits regionHits() {
    gate.requireOpen();
    return engine.sessionCounters().regionHits();
  }

  /** {@return what compaction has done since the store was opened} */
  public CompactionStats compaction() {
    gate.requireOpen();
    return compactor.stats();
  }

  /** {@return the bytes of log from its begin to its tail, in memory and on disk, live and dead} */
  public long logBytes() {
    gate.requireOpen();
    return engine.log().lengthBytes();
  }

  /**
   * Returns a lower bound for how many of the {@link #logBytes} are live, without a scan: what the
   * last background compaction found, plus new records since then, less what may have died. Before
   * the first compaction run over the whole log, the number may be far too low. Without background
   * compaction, and in memory, it equals {@link #logBytes}.
   *
   * @return the number of bytes
   */
  public long liveBytes() {
    gate.requireOpen();
    return upkeep.liveBytes();
  }

  /**
   * Like {@link #liveBytes()}, but also looks up a sample of about a hundred records of the log
   * that is on disk, and so raises a number that is far too low. Waits for a piece of a running
   * compaction.
   *
   * @return the lower bound
   * @throws IllegalStateException if called from inside a callback of a compaction
   */
  public long sampledLiveBytes() {
    return gate.whileOpen(upkeep::sampledLiveBytes);
  }

  /** {@return how the store's memory is divided} */
  public MemoryUse memory() {
    return parts.memoryUse();
  }

  /** {@return the off-heap memory in use, in bytes, out of {@code memoryBytes}} */
  public long memoryBytes() {
    return parts.arena().budget().usedBytes();
  }
}
