package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options for the stores' data, and its directory. */
public final class DataOptions {
  private static final long MOST_KEYS = 1 << 30;
  private static final int MOST_VALUE_BYTES = 1 << 16;

  /** Set by picocli. */
  public DataOptions() {}

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "How many keys, such as 500k or 16m: 100 to 1g. Default: ${DEFAULT-VALUE}.")
  long keys = 16_000_000;

  @Option(
      names = "--value-bytes",
      paramLabel = "N",
      description =
          "Bytes of a value: 8 to 65536. 8 are plain numbers, others byte arrays that begin with"
              + " one. Default: ${DEFAULT-VALUE}.")
  int valueBytes = Long.BYTES;

  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description =
          "FASTER's budget, such as 512m or 4g. More data than this goes to disk. Default: enough"
              + " to keep everything mutable in memory.")
  long memoryBytes;

  @Option(
      names = "--index-bytes",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description = "FASTER's hash index. Default: a bucket of 64 bytes to two keys.")
  long indexBytes;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  /** The options, checked. */
  public Data data() {
    Ranges.check(spec, keys >= 100 && keys <= MOST_KEYS, "--keys", keys, "100 to 1g");
    Ranges.check(
        spec,
        valueBytes >= Long.BYTES && valueBytes <= MOST_VALUE_BYTES,
        "--value-bytes",
        valueBytes,
        "8 to " + MOST_VALUE_BYTES);
    return new Data(keys, valueBytes, memoryBytes, indexBytes);
  }
}
