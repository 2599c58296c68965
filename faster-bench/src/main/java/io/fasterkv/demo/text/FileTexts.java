package io.fasterkv.demo.text;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One file, or the regular files below a directory without those in hidden directories. */
final class FileTexts implements TextInput {
  private final Path path;

  FileTexts(Path path) {
    this.path = path.toAbsolutePath().normalize();
  }

  @Override
  public List<String> names() throws IOException {
    if (!Files.isDirectory(path)) {
      return List.of(String.valueOf(path.getFileName()));
    }
    List<String> names = new ArrayList<>();
    Files.walkFileTree(path, new Collector(names));
    Collections.sort(names);
    return names;
  }

  @Override
  public InputStream open(String name, long offset) throws IOException {
    Path file = Files.isDirectory(path) ? path.resolve(name) : path;
    FileChannel channel = FileChannel.open(file);
    return Channels.newInputStream(channel.position(offset));
  }

  @Override
  public void close() {}

  private final class Collector extends SimpleFileVisitor<Path> {
    private final List<String> names;

    Collector(List<String> names) {
      this.names = names;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
      boolean hidden = String.valueOf(directory.getFileName()).startsWith(".");
      return hidden && !directory.equals(path)
          ? FileVisitResult.SKIP_SUBTREE
          : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      if (attributes.isRegularFile()) {
        names.add(path.relativize(file).toString());
      }
      return FileVisitResult.CONTINUE;
    }
  }
}
