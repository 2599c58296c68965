package io.fasterkv;

import io.fasterkv.operation.resize.MemoryRelease;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreIntegration;
import java.time.Duration;
import java.util.function.LongConsumer;

/** A store as integrators see it. */
record IntegratedStore(StoreParts parts, StoreCheckpoints checkpoints, MemoryRelease memory)
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
}
