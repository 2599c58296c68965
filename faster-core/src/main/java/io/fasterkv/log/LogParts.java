package io.fasterkv.log;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.LogDevice;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.record.Address;
import io.fasterkv.state.StoreFailure;

/** What the classes of one log share, with a device or without. */
record LogParts(
    StoreConfig config,
    Epochs epochs,
    LogDevice device,
    LogPosition position,
    StoreFailure failure,
    PageFrames frames,
    LogMarks marks,
    TailAllocator tail,
    UpdateRegions regions,
    Truncation truncation,
    TailLimit tailLimit,
    UnpublishedValues unpublished) {

  /** The parts of a log that continues after {@code position}. */
  static LogParts of(
      StoreConfig config,
      OffHeapArena arena,
      Epochs epochs,
      LogDevice device,
      LogPosition position,
      StoreFailure failure) {
    PageFrames frames = frames(config, arena);
    long start = Math.max(position.endAddress(), Address.FIRST);
    LogMarks marks = new LogMarks(position.beginAddress(), start);
    return new LogParts(
        config,
        epochs,
        device,
        position,
        failure,
        frames,
        marks,
        new TailAllocator(frames.pageBits(), start),
        new UpdateRegions(marks, config.mutableFraction() == 0),
        new Truncation(marks, position.extents(), device, frames.pageBytes()),
        new TailLimit(),
        new UnpublishedValues());
  }

  private static PageFrames frames(StoreConfig config, OffHeapArena arena) {
    long bytes = config.logMemoryBytes();
    return config.isInMemory()
        ? new PageFrames(arena, bytes, config.pageBytes(), config.segmentBytes())
        : PageFrames.resizable(
            arena, bytes, mostBytes(config), config.pageBytes(), config.segmentBytes());
  }

  /** The length of all frames: a power of two, as large as the log can grow or larger. */
  private static long mostBytes(StoreConfig config) {
    long most = config.logMemoryBytes() + config.maxMemoryBytes() - config.memoryBytes();
    return Long.highestOneBit(most - 1) << 1;
  }

  /** The marks and the tail, for messages. */
  String describe() {
    return marks + ", tail=" + tail.address() + ", tailLimit=" + tailLimit;
  }
}
