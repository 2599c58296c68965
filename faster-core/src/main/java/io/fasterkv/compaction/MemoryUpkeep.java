package io.fasterkv.compaction;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.log.MemoryReserve;
import io.fasterkv.operation.core.Engine;
import org.jspecify.annotations.Nullable;

/** Compacts a log without a device, page by page. */
public final class MemoryUpkeep implements LogUpkeep {
  private final Engine engine;
  private final MemoryCompactor compactor;

  /** Null if the store has none. */
  private final @Nullable BackgroundMemoryCompaction background;

  /** Creates the upkeep of a log. */
  public MemoryUpkeep(Engine engine, MemoryReserve room, Compactor pages, StoreConfig config) {
    this.engine = engine;
    compactor = new MemoryCompactor(engine, room, pages);
    background =
        config.backgroundCompaction()
            ? new BackgroundMemoryCompaction(engine, room, compactor)
            : null;
  }

  @Override
  public void start() {
    if (background != null) {
      background.start();
    }
  }

  @Override
  public long compact() {
    return compactor.compact();
  }

  @Override
  public long compact(long until) {
    throw new BadConfig(
        "a store in memory is not compacted in part: until=" + until + ", allowed=compact()");
  }

  @Override
  public void truncated() {}

  @Override
  public long liveBytes() {
    return engine.log().lengthBytes();
  }

  @Override
  public long sampledLiveBytes() {
    return liveBytes();
  }

  @Override
  public void close() {
    if (background != null) {
      background.close();
    }
  }

  @Override
  public void release() {
    compactor.close();
  }
}
