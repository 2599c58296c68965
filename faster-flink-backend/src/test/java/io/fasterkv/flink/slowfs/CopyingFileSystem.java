package io.fasterkv.flink.slowfs;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.ICloseableRegistry;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.PathsCopyingFileSystem;
import org.apache.flink.core.fs.local.LocalFileSystem;

/** A local file system with its own scheme that copies whole files, or claims to. */
public final class CopyingFileSystem extends LocalFileSystem implements PathsCopyingFileSystem {
  private static final String SCHEME = "copying";
  private static final CopyingFileSystem INSTANCE = new CopyingFileSystem();

  /** The behaviour of copies. */
  public enum Copies {
    SUCCEED,
    /** A copy fails after half of the file. */
    FAIL,
    /** A copy hangs until it is cancelled. */
    HANG,
    NOT_OFFERED
  }

  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger opened = new AtomicInteger();
  private volatile Copies copies = Copies.SUCCEED;

  /** The only instance, with its counts of copies and streams reset. */
  public static CopyingFileSystem reset(Copies does) {
    INSTANCE.begun.set(0);
    INSTANCE.opened.set(0);
    INSTANCE.copies = does;
    return INSTANCE;
  }

  /** A directory in this file system. */
  public static Path of(java.nio.file.Path directory) {
    return new Path(SCHEME + "://" + directory.toAbsolutePath());
  }

  /** Number of copies that have started. */
  public int begun() {
    return begun.get();
  }

  /** Number of streams that were opened for reading. */
  public int opened() {
    return opened.get();
  }

  @Override
  public URI getUri() {
    return URI.create(SCHEME + ":///");
  }

  @Override
  public FSDataInputStream open(Path file) throws IOException {
    opened.incrementAndGet();
    return super.open(file);
  }

  @Override
  public boolean canCopyPaths(Path source, Path destination) {
    return copies != Copies.NOT_OFFERED;
  }

  @Override
  public void copyFiles(List<CopyRequest> requests, ICloseableRegistry registry)
      throws IOException {
    for (CopyRequest request : requests) {
      begun.incrementAndGet();
      byte[] bytes = Files.readAllBytes(pathToFile(request.getSource()).toPath());
      java.nio.file.Path target = pathToFile(request.getDestination()).toPath();
      if (copies == Copies.SUCCEED) {
        Files.write(target, bytes);
        continue;
      }
      Files.write(target, Arrays.copyOf(bytes, bytes.length / 2));
      if (copies == Copies.HANG) {
        hang(registry);
      }
      throw new IOException("the copy failed after half of the file");
    }
  }

  private static void hang(ICloseableRegistry registry) throws IOException {
    CountDownLatch cancelled = new CountDownLatch(1);
    registry.registerCloseable(cancelled::countDown);
    boolean isInterrupted = false;
    while (cancelled.getCount() > 0) {
      try {
        cancelled.await();
      } catch (InterruptedException goesOn) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Registers the file system with Flink. */
  public static final class Factory implements FileSystemFactory {
    @Override
    public String getScheme() {
      return SCHEME;
    }

    @Override
    public FileSystem create(URI uri) {
      return INSTANCE;
    }
  }
}
