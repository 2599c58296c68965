package io.fasterkv.bench.runs;

import io.fasterkv.bench.args.Converters;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The managed memory of a run.
 *
 * @param label the option's value
 * @param bytes 0 if it is a share
 * @param share of the job's state; 0 if it is a size
 */
record MemoryChoice(String label, long bytes, double share) {
  static final long LEAST_BYTES = 16L << 20;
  private static final long MOST_BYTES = 1L << 40;

  static MemoryChoice of(String value) {
    if (value.endsWith("%")) {
      return new MemoryChoice(value, 0, percent(value) / 100);
    }
    long bytes = new Converters.OfBytes().convert(value);
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
      throw refusal(value);
    }
    return new MemoryChoice(value, bytes, 0);
  }

  private static double percent(String value) {
    try {
      double percent = Double.parseDouble(value.substring(0, value.length() - 1));
      if (percent > 0 && percent <= 1000) {
        return percent;
      }
    } catch (NumberFormatException e) {
      throw refusal(value);
    }
    throw refusal(value);
  }

  private static TypeConversionException refusal(String value) {
    return new TypeConversionException(
        "'" + value + "' is not allowed, allowed=16m to 1t, or a share of the state such as 10%");
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
