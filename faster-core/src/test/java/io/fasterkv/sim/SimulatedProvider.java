package io.fasterkv.sim;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Implements the calls of {@link java.nio.file.Files} for a {@link SimulatedDisk}. */
final class SimulatedProvider extends FileSystemProvider {
  private final SimulatedDisk disk;

  SimulatedProvider(SimulatedDisk disk) {
    this.disk = disk;
  }

  private static boolean isDirectory(Path path) {
    return SimulatedDisk.DIRECTORY.startsWith(path.toString());
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (isDirectory(path)) {
      return new SimulatedChannel(disk, path.toString(), null);
    }
    boolean mayCreate = options.contains(StandardOpenOption.CREATE);
    if (mayCreate && !disk.exists(name(path))) {
      disk.faults().beforeName(name(path));
    }
    return new SimulatedChannel(disk, name(path), disk.open(name(path), mayCreate));
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    List<Path> matching = new ArrayList<>();
    for (String name : disk.names()) {
      Path path = directory.resolve(name);
      if (filter.accept(path)) {
        matching.add(path);
      }
    }
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        return matching.iterator();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void createDirectory(Path path, FileAttribute<?>... attributes) {}

  @Override
  public void delete(Path path) throws IOException {
    if (disk.exists(name(path))) {
      disk.faults().beforeDelete(name(path));
    }
    disk.delete(name(path));
  }

  @Override
  public void move(Path from, Path to, CopyOption... options) throws IOException {
    disk.faults().beforeName(name(to));
    disk.move(name(from), name(to));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    if (!isDirectory(path) && !disk.exists(name(path))) {
      throw new NoSuchFileException(path.toString());
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    checkAccess(path);
    long size = isDirectory(path) ? 0 : disk.content(name(path)).length;
    return (A) new Attributes(isDirectory(path), size);
  }

  private record Attributes(boolean isDirectory, long size) implements BasicFileAttributes {
    @Override
    public FileTime lastModifiedTime() {
      return FileTime.fromMillis(0);
    }

    @Override
    public FileTime lastAccessTime() {
      return lastModifiedTime();
    }

    @Override
    public FileTime creationTime() {
      return lastModifiedTime();
    }

    @Override
    public boolean isRegularFile() {
      return !isDirectory;
    }

    @Override
    public boolean isSymbolicLink() {
      return false;
    }

    @Override
    public boolean isOther() {
      return false;
    }

    @Override
    public Object fileKey() {
      return null;
    }
  }

  @Override
  public boolean isSameFile(Path path, Path other) {
    return path.toString().equals(other.toString());
  }

  @Override
  public boolean isHidden(Path path) {
    return false;
  }

  @Override
  public String getScheme() {
    return "simulated";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> settings) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void copy(Path from, Path to, CopyOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileStore getFileStore(Path path) {
    throw new UnsupportedOperationException();
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
    throw new UnsupportedOperationException();
  }
}
