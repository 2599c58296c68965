package io.fasterkv.demo;

import java.time.Duration;
import java.util.Locale;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.util.TimeUtils;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Convert arguments to values, or say which values are allowed. */
final class ArgumentConverters {
  private ArgumentConverters() {}

  private static TypeConversionException refuse(String value, String allowed) {
    return new TypeConversionException("'" + value + "' is not allowed, allowed=" + allowed);
  }

  /** A savepoint format. */
  static final class OfFormat implements ITypeConverter<SavepointFormatType> {
    @Override
    public SavepointFormatType convert(String value) {
      return switch (value.toLowerCase(Locale.ROOT)) {
        case "canonical" -> SavepointFormatType.CANONICAL;
        case "native" -> SavepointFormatType.NATIVE;
        default -> throw refuse(value, "canonical, native");
      };
    }
  }

  /** A size in bytes, with a unit. */
  static final class OfMemory implements ITypeConverter<MemorySize> {
    private static final MemorySize LEAST = MemorySize.ofMebiBytes(1);
    private static final MemorySize MOST = MemorySize.ofMebiBytes(1 << 20);

    @Override
    public MemorySize convert(String value) {
      String allowed = "1m to 1t, such as 64m, 512mb or 2g";
      MemorySize size;
      try {
        size = MemorySize.parse(value);
      } catch (IllegalArgumentException e) {
        throw refuse(value, allowed);
      }
      if (size.compareTo(LEAST) < 0 || size.compareTo(MOST) > 0) {
        throw refuse(value, allowed);
      }
      return size;
    }
  }

  /** A time between checkpoints. */
  static final class OfInterval implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      String allowed = "10ms to 1h, such as 500ms or 2s";
      Duration interval;
      try {
        interval = TimeUtils.parseDuration(value);
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw refuse(value, allowed);
      }
      if (interval.compareTo(Duration.ofMillis(10)) < 0
          || interval.compareTo(Duration.ofHours(1)) > 0) {
        throw refuse(value, allowed);
      }
      return interval;
    }
  }

  /** How many subtasks. */
  static final class OfParallelism implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      return Math.toIntExact(
          number(
              value,
              1,
              ClusterSettings.MAX_PARALLELISM,
              "1 to " + ClusterSettings.MAX_PARALLELISM));
    }
  }

  /** How many rows. */
  static final class OfRows implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      return Math.toIntExact(number(value, 0, 1_000_000, "0 to 1000000"));
    }
  }

  /** How many words; {@code k} and {@code m} are thousands and millions. */
  static final class OfWords implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      String allowed = DemoOptions.LEAST_WORDS + " or more, such as 250000, 500k or 4m; or all";
      String digits = value.toLowerCase(Locale.ROOT);
      if (digits.equals("all")) {
        return Long.MAX_VALUE;
      }
      long unit = digits.endsWith("k") ? 1_000 : digits.endsWith("m") ? 1_000_000 : 1;
      String count = unit == 1 ? digits : digits.substring(0, digits.length() - 1);
      long words = number(count, 1, 1_000_000_000_000L, allowed) * unit;
      if (words < DemoOptions.LEAST_WORDS) {
        throw refuse(value, allowed);
      }
      return words;
    }
  }

  private static long number(String value, long least, long most, String allowed) {
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw refuse(value, allowed);
    }
    throw refuse(value, allowed);
  }
}
