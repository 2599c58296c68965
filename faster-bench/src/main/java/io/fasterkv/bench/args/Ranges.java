package io.fasterkv.bench.args;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Refuses arguments that are out of range. */
public final class Ranges {
  private Ranges() {}

  /** Refuses the arguments of a command, or of no command in a test, unless they are allowed. */
  public static void check(
      @Nullable CommandSpec spec, boolean allowed, String name, Object value, String range) {
    if (!allowed) {
      throw refusal(spec, name + " is out of range: " + name + "=" + value + ", allowed=" + range);
    }
  }

  /** What to throw for arguments that do not work together. */
  public static RuntimeException refusal(@Nullable CommandSpec spec, String message) {
    return spec == null
        ? new IllegalArgumentException(message)
        : new ParameterException(spec.commandLine(), message);
  }
}
