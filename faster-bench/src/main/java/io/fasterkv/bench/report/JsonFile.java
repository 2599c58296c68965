package io.fasterkv.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes results for programs. */
public final class JsonFile {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private JsonFile() {}

  /** Writes an array with an object for each row; makes the directory when it is missing. */
  public static void write(Path file, List<?> rows) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    MAPPER.writeValue(file.toFile(), rows);
  }
}
