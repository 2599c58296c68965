package io.fasterkv.bench.store;

import io.fasterkv.FasterStore;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;

/** Converts a benchmark's settings to the store's. */
final class FasterSettings {
  /** Stands for the store without a device, instead of a mutable fraction. */
  static final double IN_MEMORY = 1;

  private static final int PAGE_BYTES = 1 << 20;
  private static final int LEAST_PAGES = 16;
  private static final int SCRATCH_PAGES = 16;

  /** For rings of disk reads and other small needs. */
  private static final long ROOM_BYTES = 8L << 20;

  /** Less than the default mutable fraction, so that everything is mutable. */
  private static final double FILL = 0.85;

  private FasterSettings() {}

  static FasterStore open(StoreSettings settings, double mutableFraction, long recordBytes) {
    StoreConfigBuilder builder =
        (mutableFraction == IN_MEMORY
                ? StoreConfig.inMemory()
                : StoreConfig.builder(settings.directory()).mutableFraction(mutableFraction))
            .recordKind(settings.isLongs() ? RecordKind.LONGS : RecordKind.SPANS)
            .maxSessions(2 * settings.sessions() + 2)
            .deleteOnClose(true);
    if (settings.memoryBytes() == 0) {
      everythingFits(builder, settings, recordBytes);
    } else {
      builder.memoryBytes(settings.memoryBytes()).indexBytes(settings.indexBytes());
    }
    return FasterStore.open(builder.build());
  }

  private static void everythingFits(
      StoreConfigBuilder builder, StoreSettings settings, long recordBytes) {
    long log = (long) LEAST_PAGES * PAGE_BYTES;
    while (log * FILL < settings.keys() * recordBytes) {
      log *= 2;
    }
    long scratch = (long) SCRATCH_PAGES * PAGE_BYTES;
    long index = settings.indexBytesOrDefault();
    builder
        .memoryBytes(index + log + scratch + ROOM_BYTES)
        .indexBytes(index)
        .logMemoryBytes(log)
        .pageBytes(PAGE_BYTES)
        .scratchBytes(scratch);
  }
}
