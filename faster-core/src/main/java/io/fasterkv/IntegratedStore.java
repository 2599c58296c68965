package io.fasterkv;

import io.fasterkv.api.statistics.RegionHits;
import io.fasterkv.log.HybridLog;
import io.fasterkv.operation.resize.MemoryExchange;
import io.fasterkv.spi.MemoryUses;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreIntegration;
import java.time.Duration;
import java.util.function.LongConsumer;

/** A store as integrators see it. */
record IntegratedStore(StoreParts parts, StoreCheckpoints checkpoints, MemoryExchange memory)
    implements StoreIntegration {
  @Override
  public StoreExport export() {
    return checkpoints.export();
  }

  @Override
  public void copyOrigin() {
    parts.copyOrigin();
  }

  @Override
  public long bytesToCopy() {
    return parts.bytesToCopy();
  }

  @Override
  public long releasableBytes() {
    return memory.releasableBytes();
  }

  @Override
  public boolean releaseMemory(long bytes, Duration atMost, LongConsumer released) {
    return memory.release(bytes, atMost.toNanos(), released);
  }

  @Override
  public long acceptableBytes() {
    return memory.acceptableBytes();
  }

  @Override
  public long acceptLogMemory(long bytes) {
    return memory.acceptForLog(bytes);
  }

  @Override
  public long acceptIndexMemory(long bytes) {
    return memory.acceptForIndex(bytes);
  }

  @Override
  public long releaseIndexMemory(long bytes) {
    return memory.releaseSpare(bytes);
  }

  @Override
  public long moveIndexMemoryToLog(long bytes) {
    return memory.moveSpareToLog(bytes);
  }

  @Override
  public MemoryUses memoryUses() {
    RegionHits hits = parts.engine().sessionCounters().regionHits();
    HybridLog log = parts.engine().log();
    long head = log.headAddress();
    return new MemoryUses(
        hits.mutable() + hits.readOnly(),
        hits.disk(),
        log.quota().memoryBytes(),
        Math.max(0, log.tailAddress() - head),
        Math.max(0, head - log.beginAddress()),
        memory.spareIndexBytes(),
        memory.logAcceptableBytes(),
        memory.logReleasableBytes(),
        memory.indexLackBytes(),
        memory.acceptedBytes(),
        memory.releasedBytes());
  }
}
