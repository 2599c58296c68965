package io.fasterkv.bench.runs;

import io.fasterkv.bench.args.Converters;
import picocli.CommandLine.ITypeConverter;

/**
 * The managed memory of a run.
 *
 * @param label the option's value
 * @param bytes 0 if it is a share
 * @param share of the job's state; 0 if it is a size
 */
record MemoryChoice(String label, long bytes, double share) {
  private static final String ALLOWED = "16m to 1t, or a share of the state such as 10%";
  static final long LEAST_BYTES = 16L << 20;
  private static final long MOST_BYTES = 1L << 40;

  static MemoryChoice of(String value) {
    if (Percent.isOne(value)) {
      return new MemoryChoice(value, 0, Percent.share(value, ALLOWED));
    }
    long bytes = new Converters.OfBytes().convert(value);
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
      throw Percent.refusal(value, ALLOWED);
    }
    return new MemoryChoice(value, bytes, 0);
  }

  boolean isShare() {
    return bytes == 0;
  }

  /** The memory for state of this size. */
  long bytesFor(long stateBytes) {
    return isShare() ? Math.max(LEAST_BYTES, (long) (stateBytes * share)) : bytes;
  }

  /** Reads the option. */
  static final class Converter implements ITypeConverter<MemoryChoice> {
    @Override
    public MemoryChoice convert(String value) {
      return of(value);
    }
  }
}
