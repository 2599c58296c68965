package io.fasterkv.sim;

import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;

/** A path of a {@link SimulatedFileSystem}: the platform's path, on another disk. */
record SimulatedPath(SimulatedFileSystem disk, Path spelling) implements Path {

  @Override
  public FileSystem getFileSystem() {
    return disk;
  }

  private Path on(Path path) {
    return path == null ? null : new SimulatedPath(disk, path);
  }

  private static Path spelling(Path other) {
    return Path.of(other.toString());
  }

  @Override
  public boolean isAbsolute() {
    return spelling.isAbsolute();
  }

  @Override
  public Path getRoot() {
    return on(spelling.getRoot());
  }

  @Override
  public Path getFileName() {
    return on(spelling.getFileName());
  }

  @Override
  public Path getParent() {
    return on(spelling.getParent());
  }

  @Override
  public int getNameCount() {
    return spelling.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return on(spelling.getName(index));
  }

  @Override
  public Path subpath(int from, int to) {
    return on(spelling.subpath(from, to));
  }

  @Override
  public boolean startsWith(Path other) {
    return spelling.startsWith(spelling(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return spelling.endsWith(spelling(other));
  }

  @Override
  public Path normalize() {
    return on(spelling.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return on(spelling.resolve(spelling(other)));
  }

  @Override
  public Path relativize(Path other) {
    return on(spelling.relativize(spelling(other)));
  }

  @Override
  public URI toUri() {
    return URI.create("simulated:" + spelling);
  }

  @Override
  public Path toAbsolutePath() {
    return on(spelling.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) {
    return toAbsolutePath();
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return toString().compareTo(other.toString());
  }

  @Override
  public String toString() {
    return spelling.toString();
  }
}
