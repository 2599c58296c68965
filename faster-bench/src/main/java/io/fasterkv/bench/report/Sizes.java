package io.fasterkv.bench.report;

import java.util.Locale;

/** Formats numbers for people. */
public final class Sizes {
  private static final String[] BYTE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
  private static final String[] COUNT_UNITS = {"", "k", "M", "G"};

  private Sizes() {}

  /** Writes a number of bytes with three digits, such as {@code 1.44 MiB}. */
  public static String bytes(long bytes) {
    return scaled((double) bytes, 1024, BYTE_UNITS, " ");
  }

  /** Writes a number with three digits, such as {@code 85.3k}. */
  public static String count(double count) {
    return scaled(count, 1000, COUNT_UNITS, "");
  }

  /** Writes a number in full, such as {@code 4,000,000}. */
  public static String full(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  private static String scaled(double number, int step, String[] units, String space) {
    double scaled = number;
    int unit = 0;
    while (scaled >= 999.5 && unit < units.length - 1) {
      scaled /= step;
      unit++;
    }
    int decimals = unit == 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    return String.format(Locale.ROOT, "%." + decimals + "f", scaled) + space + units[unit];
  }
}
