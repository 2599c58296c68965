package io.fasterkv;

import io.fasterkv.operation.resize.MemoryGifts;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreIntegration;
import java.time.Duration;
import java.util.function.LongConsumer;

/** A store as integrators see it. */
record IntegratedStore(StoreParts parts, StoreCheckpoints checkpoints, MemoryGifts gifts)
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
    return gifts.possibleBytes();
  }

  @Override
  public boolean releaseMemory(long bytes, Duration atMost, LongConsumer released) {
    return gifts.give(bytes, atMost.toNanos(), released);
  }
}
