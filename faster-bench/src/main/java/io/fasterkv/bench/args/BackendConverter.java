package io.fasterkv.bench.args;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the name of a state backend. */
public final class BackendConverter implements ITypeConverter<Backend> {
  @Override
  public Backend convert(String value) {
    return Backend.named(value.toLowerCase(Locale.ROOT))
        .orElseThrow(() ->
            new TypeConversionException(
                "'" + value + "' is not allowed, allowed=" + Backend.names()));
  }
}
