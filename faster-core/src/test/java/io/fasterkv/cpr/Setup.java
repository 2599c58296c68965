package io.fasterkv.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Settings chosen by a seed: those that a store keeps through all its lives, and those that change
 * in each life. Pages and memory are tiny, so that records go through all possible states.
 */
final class Setup {
  /** Values up to this size fit a page. */
  static final int LARGEST_SMALL = 1200;

  private static final int[] MAX_BYTES = {64, LARGEST_SMALL, 12_000};
  private static final double[] FRACTIONS = {0, 0.3, 0.5, 0.9};

  private static final int MAX_BUCKETS = 1000;

  /** Compaction is slow if chains on disk are long. */
  private static final long FILES_INDEX_BYTES = 32 << 10;

  private final Path directory;
  private final RecordKind kind;
  private final boolean isMerging;
  private final int maxBytes;
  private final int pageBytes;
  private final LogDevice memory;

  /** Creates the settings; {@code inFiles} selects a log that another process can open. */
  Setup(SplittableRandom random, Path directory, boolean inFiles) {
    this.directory = directory;
    kind = random.nextInt(3) == 0 ? RecordKind.LONGS : RecordKind.SPANS;
    isMerging = random.nextInt(4) == 0;
    maxBytes = MAX_BYTES[random.nextInt(MAX_BYTES.length)];
    memory = inFiles || random.nextBoolean() ? null : new MemoryDevice();
    pageBytes = 4096 << random.nextInt(2);
  }

  /** The length of the longest value. */
  int maxBytes() {
    return maxBytes;
  }

  /** Whether updates are merged. */
  boolean isMerging() {
    return isMerging;
  }

  /** The log's storage, for one life. */
  LogDevice device(StoreConfig config) {
    return memory != null ? memory : new FileDevice(directory, config.segmentBytes());
  }

  /** The next life's settings, with another amount of memory, for example. */
  StoreConfig config(SplittableRandom random) {
    return config(random, false);
  }

  /** Like {@link #config(SplittableRandom)}, with or without background compaction. */
  StoreConfig config(SplittableRandom random, boolean isCompacting) {
    StoreConfigBuilder config =
        StoreConfig.builder(directory)
            .memoryBytes(4 << 20)
            .pageBytes(pageBytes)
            .logMemoryBytes((long) pageBytes << random.nextInt(2, 6))
            .indexBytes(
                memory == null ? FILES_INDEX_BYTES : Math.max(256, 64L << random.nextInt(2, 9)))
            .segmentBytes(32768)
            .scratchBytes(2 << 20)
            .mutableFraction(FRACTIONS[random.nextInt(FRACTIONS.length)])
            .recordKind(kind)
            .backgroundCompaction(isCompacting)
            .versionShift(random.nextInt(3) == 0 ? VersionShift.COARSE : VersionShift.FINE);
    if (isMerging && kind == RecordKind.SPANS) {
      config.merge(new SumFunctions(maxBytes));
    } else if (isMerging) {
      config.merge(StampedSession.Longs.functions());
    }
    return config.build();
  }

  /** Doubles or halves the index. */
  static void resizeIndex(FasterStore store, SplittableRandom random) {
    long buckets = store.statistics().index().mainBuckets();
    if (buckets % 2 != 0 || (buckets < MAX_BUCKETS && random.nextBoolean())) {
      store.index().grow();
    } else {
      store.index().shrink();
    }
  }

  static SessionMode mode(SplittableRandom random) {
    return random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
  }

  @Override
  public String toString() {
    return kind
        + (isMerging ? ", merging" : "")
        + ", values up to "
        + maxBytes
        + " bytes, pages of "
        + pageBytes
        + (memory == null ? ", in files" : ", in memory");
  }
}
