package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Converters;
import picocli.CommandLine.ITypeConverter;

/**
 * The amount of a backend's managed memory.
 *
 * @param label the option's value
 * @param bytes 0 for a tenth of the state
 */
record MemorySetting(String label, long bytes) {
  static final String TENTH = "tenth";
  private static final long LEAST_BYTES = 1 << 20;
  private static final int PARTS = 10;

  static MemorySetting of(String value) {
    return new MemorySetting(
        value, value.equals(TENTH) ? 0 : new Converters.OfBytes().convert(value));
  }

  boolean isTenth() {
    return bytes == 0;
  }

  /** The memory for state of this size; at least the minimum with which backends start. */
  long bytesFor(long stateBytes) {
    return Math.max(isTenth() ? stateBytes / PARTS : bytes, LEAST_BYTES);
  }

  /** Reads the option. */
  static final class Converter implements ITypeConverter<MemorySetting> {
    @Override
    public MemorySetting convert(String value) {
      return of(value);
    }
  }
}
