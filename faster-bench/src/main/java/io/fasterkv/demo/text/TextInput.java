package io.fasterkv.demo.text;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** A set of named texts. Several threads may open texts at once. */
public sealed interface TextInput extends Closeable permits FileTexts, ZipTexts {
  /** How much of a text is looked at to tell text from other data, in bytes. */
  int HEAD_BYTES = 8 << 10;

  /** Opens a file, a directory with everything below it, or a zip file. */
  static TextInput of(Path path) throws IOException {
    return isZip(path) ? new ZipTexts(path) : new FileTexts(path);
  }

  /** Returns the names in the order in which they are read, which is the same for every call. */
  List<String> names() throws IOException;

  /** Opens the text {@code name} at {@code offset} bytes from its start. */
  InputStream open(String name, long offset) throws IOException;

  /** Says whether {@code name} looks like text, as git and grep do: no zero byte near the start. */
  default boolean isText(String name) throws IOException {
    try (InputStream in = open(name, 0)) {
      for (byte b : in.readNBytes(HEAD_BYTES)) {
        if (b == 0) {
          return false;
        }
      }
      return true;
    }
  }

  private static boolean isZip(Path path) throws IOException {
    if (!Files.isRegularFile(path)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(path)) {
      return Arrays.equals(in.readNBytes(4), new byte[] {'P', 'K', 3, 4});
    }
  }
}
