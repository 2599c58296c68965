package io.fasterkv;

import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreIntegration;

/** A store as integrators see it. */
record IntegratedStore(StoreParts parts, StoreCheckpoints checkpoints) implements StoreIntegration {
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
}
