package io.fasterkv.bench.runs;

import picocli.CommandLine.TypeConversionException;

/** Shares in arguments, such as 10%. */
final class Percent {
  private static final double MOST = 1000;

  private Percent() {}

  /** Says whether an argument is a share. */
  static boolean isOne(String value) {
    return value.endsWith("%");
  }

  /**
   * The share of an argument: 0.1 for 10%.
   *
   * @param allowed for the message if the argument is refused
   */
  static double share(String value, String allowed) {
    try {
      double percent = Double.parseDouble(value.substring(0, value.length() - 1));
      if (percent > 0 && percent <= MOST) {
        return percent / 100;
      }
    } catch (NumberFormatException e) {
      throw refusal(value, allowed);
    }
    throw refusal(value, allowed);
  }

  static TypeConversionException refusal(String value, String allowed) {
    return new TypeConversionException("'" + value + "' is not allowed, allowed=" + allowed);
  }
}
