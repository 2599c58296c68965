package io.fasterkv.bench.disk;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options for data on disk, and how it is read and written. */
public final class DiskOptions {
  @Option(
      names = "--data",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description =
          "How much the store holds, 64m or more; memory for the log is a thirty-second of it for"
              + " reads and a quarter for writes. Default: 1g.")
  long dataBytes = 1L << 30;

  @Option(
      names = "--value-bytes",
      paramLabel = "N",
      description = "Bytes of a value that is read: 8 to 65536. Default: ${DEFAULT-VALUE}.")
  int valueBytes = 100;

  @Option(
      names = "--write-value-bytes",
      paramLabel = "N",
      description =
          "Bytes of a value that is written: 8 to 65536. Default: ${DEFAULT-VALUE}, as in YCSB.")
  int writeValueBytes = 1000;

  @Option(
      names = "--writers",
      paramLabel = "N",
      description = "Threads that write: 1 to 32. Default: ${DEFAULT-VALUE}.")
  int writers = 2;

  @Option(
      names = "--depth",
      paramLabel = "N",
      description = "Reads under way at a time: 1 to 64. Default: ${DEFAULT-VALUE}.")
  int depth = 32;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  /** Set by picocli. */
  public DiskOptions() {}

  /** The options, checked. */
  public DiskPlan plan(Duration slice, int rounds, Path directory) {
    Ranges.check(spec, dataBytes >= 64L << 20, "--data", dataBytes, "64m and more");
    checkValue("--value-bytes", valueBytes);
    checkValue("--write-value-bytes", writeValueBytes);
    Ranges.between(spec, "--writers", writers, 1, 32);
    Ranges.between(spec, "--depth", depth, 1, 64);
    return new DiskPlan(dataBytes, valueBytes, depth, slice, rounds, directory);
  }

  private void checkValue(String name, int bytes) {
    Ranges.between(spec, name, bytes, 8, 1 << 16);
  }

  /** Length of a written value. */
  public int writeValueBytes() {
    return writeValueBytes;
  }

  /** Number of writing threads. */
  public int writers() {
    return writers;
  }
}
