package io.fasterkv.demo.text;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The entries of a zip file. */
final class ZipTexts implements TextInput {
  private final ZipFile zip;

  ZipTexts(Path path) throws IOException {
    this.zip = new ZipFile(path.toFile());
  }

  @Override
  public List<String> names() {
    return zip.stream()
        .filter(entry -> !entry.isDirectory())
        .map(ZipEntry::getName)
        .sorted()
        .toList();
  }

  @Override
  public InputStream open(String name, long offset) throws IOException {
    ZipEntry entry = zip.getEntry(name);
    if (entry == null) {
      throw new NoSuchFileException(zip.getName(), name, "no such entry");
    }
    InputStream in = zip.getInputStream(entry);
    in.skipNBytes(offset);
    return in;
  }

  @Override
  public void close() throws IOException {
    zip.close();
  }
}
