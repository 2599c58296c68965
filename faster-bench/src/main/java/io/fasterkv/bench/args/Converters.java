package io.fasterkv.bench.args;

import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converters of the benchmarks' own argument types. */
public final class Converters {
  private static final long MOST = 1L << 48;

  private Converters() {}

  private static TypeConversionException refuse(String value, String allowed) {
    return new TypeConversionException("'" + value + "' is not allowed, allowed=" + allowed);
  }

  /** A store's name. */
  public static final class OfStore implements ITypeConverter<StoreKind> {
    @Override
    public StoreKind convert(String value) {
      return StoreKind.named(value).orElseThrow(() -> refuse(value, StoreKind.labels()));
    }
  }

  /** A workload's name. */
  public static final class OfWorkload implements ITypeConverter<Workload> {
    @Override
    public Workload convert(String value) {
      try {
        return Workload.named(value);
      } catch (IllegalArgumentException e) {
        throw refuse(value, Workload.LABELS);
      }
    }
  }

  /** A distribution's name. */
  public static final class OfDistribution implements ITypeConverter<Distribution> {
    @Override
    public Distribution convert(String value) {
      return Arrays.stream(Distribution.values())
          .filter(distribution -> distribution.label().equals(value))
          .findFirst()
          .orElseThrow(() -> refuse(value, Distribution.labels()));
    }
  }

  /** A number of bytes; {@code k}, {@code m}, {@code g} and {@code t} are powers of 1024. */
  public static final class OfBytes implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      return scaled(value, 1024, "0 to 256t, such as 4096, 64m or 2g");
    }
  }

  /** A number of things; {@code k}, {@code m} and {@code g} are powers of 1000. */
  public static final class OfCount implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      return scaled(value, 1000, "a whole number, such as 250000, 500k or 16m");
    }
  }

  /** A time in seconds. */
  public static final class OfSeconds implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      String allowed = "0 to 86400 seconds, such as 5 or 0.2";
      double seconds;
      try {
        seconds = Double.parseDouble(value);
      } catch (NumberFormatException e) {
        throw refuse(value, allowed);
      }
      if (!(seconds >= 0 && seconds <= 86_400)) {
        throw refuse(value, allowed);
      }
      return Duration.ofNanos((long) (seconds * 1e9));
    }
  }

  private static long scaled(String value, int step, String allowed) {
    String text = value.toLowerCase(Locale.ROOT);
    int unit = text.isEmpty() ? -1 : "kmgt".indexOf(text.charAt(text.length() - 1));
    String digits = unit < 0 ? text : text.substring(0, text.length() - 1);
    try {
      long number = Long.parseLong(digits);
      for (int i = 0; i <= unit; i++) {
        number = Math.multiplyExact(number, step);
      }
      if (number >= 0 && number <= MOST) {
        return number;
      }
    } catch (NumberFormatException | ArithmeticException e) {
      throw refuse(value, allowed);
    }
    throw refuse(value, allowed);
  }
}
