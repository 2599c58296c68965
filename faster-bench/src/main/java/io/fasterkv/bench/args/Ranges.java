package io.fasterkv.bench.args;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses arguments that are out of range. */
public final class Ranges {
  private Ranges() {}

  /** Checks the arguments of a command, or of no command in a test. */
  public static void check(
      @Nullable CommandSpec spec, boolean allowed, String name, Object value, String range) {
    if (!allowed) {
      throw refusal(spec, name + " is out of range: " + name + "=" + value + ", allowed=" + range);
    }
  }

  /** Checks a number against its bounds, both included. */
  public static void between(
      @Nullable CommandSpec spec, String name, long value, long least, long most) {
    check(spec, value >= least && value <= most, name, value, least + " to " + most);
  }

  /** Checks a size in bytes: a mebibyte to a tebibyte. */
  public static void size(@Nullable CommandSpec spec, String name, long bytes) {
    check(spec, bytes >= 1 << 20 && bytes <= 1L << 40, name, bytes, "1m to 1t");
  }

  /** The exception for arguments that cannot be combined. */
  public static RuntimeException refusal(@Nullable CommandSpec spec, String message) {
    return spec == null
        ? new IllegalArgumentException(message)
        : new ParameterException(spec.commandLine(), message);
  }
}
