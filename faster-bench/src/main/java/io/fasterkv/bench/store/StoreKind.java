package io.fasterkv.bench.store;

import io.fasterkv.bench.workload.Workload;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The stores that can be named on the command line. */
public enum StoreKind {
  /** The store, its log mutable as by default. */
  FASTER,
  /** The store with a mutable fraction of 0: every update appends. */
  FASTER_APPEND,
  /** The store without a device: its log is all in memory. */
  FASTER_MEMORY,
  /** {@code ConcurrentHashMap}. */
  CHM,
  /** Agrona's primitive maps behind lock stripes. */
  AGRONA,
  /** The same memory accesses as the store's, over plain arrays, with nothing else. */
  CEILING;

  private static final double DEFAULT_MUTABLE_FRACTION = 0.9;

  /** Its name on the command line. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The allowed names. */
  public static String labels() {
    return Arrays.stream(values()).map(StoreKind::label).collect(Collectors.joining(", "));
  }

  /** The store with this name. */
  public static Optional<StoreKind> named(String label) {
    return Arrays.stream(values()).filter(kind -> kind.label().equals(label)).findFirst();
  }

  /** Opens an empty store. */
  public BenchStore open(StoreSettings settings) {
    return switch (this) {
      case FASTER -> faster(settings, DEFAULT_MUTABLE_FRACTION);
      case FASTER_APPEND -> faster(settings, 0);
      case FASTER_MEMORY -> faster(settings, FasterSettings.IN_MEMORY);
      case CHM -> settings.isLongs() ? new ChmLongs(settings) : new ChmSpans(settings);
      case AGRONA -> settings.isLongs() ? new AgronaLongs(settings) : new AgronaSpans(settings);
      case CEILING -> new Ceiling(settings);
    };
  }

  private static BenchStore faster(StoreSettings settings, double mutableFraction) {
    return settings.isLongs()
        ? new FasterLongs(settings, mutableFraction)
        : new FasterSpans(settings, mutableFraction);
  }

  /** Whether it supports batches. */
  public boolean hasBatches() {
    return this == FASTER || this == FASTER_APPEND || this == FASTER_MEMORY || this == CEILING;
  }

  /** Why this store cannot run that workload; empty if it can. */
  public String refusal(Workload workload, int valueBytes, int threads) {
    if (this != CEILING) {
      return "";
    }
    if (valueBytes != Long.BYTES) {
      return "plain arrays hold values of 8 bytes only";
    }
    return threads > 1 && workload.kind() != Workload.Kind.READ
        ? "plain arrays are not safe for writes by several threads"
        : "";
  }

  /** Java heap that it needs, including room for the collector. */
  public long heapBytes(long keys, int valueBytes) {
    long box = valueBytes == Long.BYTES ? 16 : 24 + valueBytes;
    return switch (this) {
      case FASTER, FASTER_APPEND, FASTER_MEMORY -> 0;
      case CHM -> keys * 2 * (32 + 16 + 8 + box);
      case AGRONA -> keys * (valueBytes == Long.BYTES ? 80 : 64 + 2 * box);
      case CEILING -> keys * 72;
    };
  }
}
