package io.fasterkv.bench.args;

import io.fasterkv.bench.process.WorkDirectory;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option for where files go. */
public final class DirectoryOption {
  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Where files go, each run in a directory of its own that is removed at the end. Default:"
              + " ${DEFAULT-VALUE}.")
  Path path;

  private DirectoryOption(Path path) {
    this.path = path;
  }

  /** On the disk of the user's home, which is the one to measure. */
  public static DirectoryOption onDisk() {
    return new DirectoryOption(Path.of(System.getProperty("user.home", "."), "faster-bench-disk"));
  }

  /** In the system's directory for temporary files. */
  public static DirectoryOption temporary() {
    return new DirectoryOption(
        Path.of(
            System.getProperty("java.io.tmpdir", "."),
            "faster-bench-" + System.getProperty("user.name", "user")));
  }

  /** The directory that the user chose. */
  public Path path() {
    return path;
  }

  /** Code that needs a directory. */
  @FunctionalInterface
  public interface Body<T, E extends Exception> {
    T run(WorkDirectory work) throws E;
  }

  /** Runs in a new directory, which is deleted afterwards, also if the process is stopped. */
  public <T, E extends Exception> T inNew(Body<T, E> body) throws IOException, E {
    WorkDirectory work = WorkDirectory.create(path);
    try {
      return body.run(work);
    } finally {
      work.delete();
    }
  }
}
