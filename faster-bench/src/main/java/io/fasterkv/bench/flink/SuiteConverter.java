package io.fasterkv.bench.flink;

import java.util.Arrays;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A suite's name. */
final class SuiteConverter implements ITypeConverter<Suite> {
  @Override
  public Suite convert(String value) {
    return Arrays.stream(Suite.values())
        .filter(suite -> suite.toString().equals(value))
        .findFirst()
        .orElseThrow(() ->
            new TypeConversionException(
                "'" + value + "' is not allowed, allowed=" + Arrays.toString(Suite.values())));
  }
}
