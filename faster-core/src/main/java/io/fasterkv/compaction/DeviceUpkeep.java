package io.fasterkv.compaction;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.operation.core.Engine;
import org.jspecify.annotations.Nullable;

/** Compacts the part of a log that is on a device. */
public final class DeviceUpkeep implements LogUpkeep {
  private final Engine engine;
  private final Compactor compactor;

  /** Null if the store has none. */
  private final @Nullable BackgroundCompaction background;

  /** Creates the upkeep of a log. */
  public DeviceUpkeep(Engine engine, Compactor compactor, StoreConfig config) {
    this.engine = engine;
    this.compactor = compactor;
    background =
        config.backgroundCompaction() ? new BackgroundCompaction(engine, compactor, config) : null;
  }

  @Override
  public void start() {
    if (background != null) {
      background.start();
    }
  }

  @Override
  public long compact() {
    return compact(Long.MAX_VALUE);
  }

  @Override
  public long compact(long until) {
    long bytes = compactor.compact(until);
    if (background != null) {
      background.noteExpired();
    }
    compactor.cleanIndex();
    return bytes;
  }

  @Override
  public void truncated() {
    if (background != null) {
      background.truncated();
    }
  }

  @Override
  public long liveBytes() {
    return background == null ? engine.log().lengthBytes() : background.liveBytes();
  }

  @Override
  public long sampledLiveBytes() {
    return background == null ? engine.log().lengthBytes() : background.sampledLiveBytes();
  }

  @Override
  public void close() {
    if (background != null) {
      background.close();
    }
  }

  @Override
  public void release() {}
}
