package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A backend's name. */
public final class BackendConverter implements ITypeConverter<Backend> {
  @Override
  public Backend convert(String value) {
    return Backend.named(value)
        .orElseThrow(() ->
            new TypeConversionException(
                "'" + value + "' is not allowed, allowed=" + Backend.names()));
  }
}
