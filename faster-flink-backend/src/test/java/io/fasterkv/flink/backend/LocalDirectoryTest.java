package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fasterkv.flink.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Directories of processes that were killed are removed, and those of living ones never. */
@Timeout(120)
class LocalDirectoryTest {
  @TempDir Path directory;

  private final List<Process> processes = new ArrayList<>();

  /** What another process does. */
  public static final class OtherProcess {
    private OtherProcess() {}

    /** Makes a directory below the first argument and stays, or, told to, removes dead ones. */
    @SuppressWarnings("SystemOut")
    public static void main(String[] args) throws Exception {
      Path parent = Path.of(args[0]);
      if (args[1].equals("remove")) {
        LocalDirectory.removeDead(parent);
        return;
      }
      LocalDirectory own = LocalDirectory.create(parent, "operator 1");
      Files.createDirectories(own.path().resolve("log"));
      Files.writeString(own.path().resolve("log").resolve("log.0"), "bytes");
      System.out.println(own.path());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @BeforeEach
  void onlyWhereProcessesCanBeTold() {
    assumeThat(Path.of("/proc/sys/kernel/random/boot_id")).exists();
  }

  @AfterEach
  void kill() throws Exception {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process start(Path parent, String what) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                OtherProcess.class.getName(),
                parent.toString(),
                what)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    processes.add(process);
    return process;
  }

  /** Returns the directory that a process has made. */
  private static Path awaitDirectory(Process process) throws IOException {
    return Path.of(process.inputReader().readLine());
  }

  private static void killNow(Process process) throws InterruptedException {
    assertThat(process.destroyForcibly().waitFor()).as("killed by signal 9").isEqualTo(128 + 9);
  }

  @Test
  void whatAKilledProcessHasLeftIsRemovedAndNothingElse() throws Exception {
    Process first = start(directory, "stay");
    Process second = start(directory, "stay");
    Path firstPath = awaitDirectory(first);
    Path secondPath = awaitDirectory(second);
    Path foreign = Files.createDirectories(directory.resolve("faster-but-not-ours"));
    try (LocalDirectory own = LocalDirectory.create(directory, "operator 2")) {
      LocalDirectory.removeDead(directory);
      assertThat(directories()).contains(firstPath, secondPath, foreign, own.path()).hasSize(4);
      killNow(first);
      LocalDirectory.removeDead(directory);
      assertThat(directories()).contains(secondPath, foreign, own.path()).hasSize(3);
      assertThat(secondPath.resolve("log").resolve("log.0")).hasContent("bytes");
      // Looking at directories has not cost this process its lock.
      assertThat(start(directory, "remove").waitFor()).isZero();
      assertThat(directories()).contains(secondPath, foreign, own.path()).hasSize(3);
    }
    killNow(second);
    assertThat(start(directory, "remove").waitFor()).isZero();
    assertThat(directories()).containsExactly(foreign);
  }

  /** Each class loader has classes of its own, and the process is one. */
  @Test
  void directoriesOfAnotherPlaceAreLeftAlone() throws Exception {
    Process other = start(directory, "stay");
    Path path = awaitDirectory(other);
    killNow(other);
    Path owner = LocalDirectory.children(path, "owner-").getFirst();
    String name = owner.getFileName().toString();
    Path elsewhere = path.resolve(name.replaceFirst("owner-.", "owner-x"));
    Files.move(owner, elsewhere);
    LocalDirectory.removeDead(directory);
    assertThat(path).as("of another machine, or before it was started").exists();
    Files.move(elsewhere, owner);
    LocalDirectory.removeDead(directory);
    assertThat(path).doesNotExist();
  }

  @Test
  void openingAStoreRemovesThem() throws Exception {
    Process configured = start(directory, "stay");
    Path path = awaitDirectory(configured);
    killNow(configured);
    try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
      backends.open();
      assertThat(path).doesNotExist();
      assertThat(directories()).hasSize(1);
    }
    assertThat(directories()).isEmpty();
  }

  /** Flink's own temporary directories are another one for each process. */
  @Test
  void openingAStoreRemovesThemFromFlinksDirectories() throws Exception {
    Configuration config = TestSettings.TINY.config();
    try (TestBackends backends = new TestBackends(config)) {
      Path own = backends.open().store().config().directory().getParent().getParent();
      assertThat(own.getFileName().toString()).startsWith("flink-io-");
      Path beside = Files.createDirectories(own.resolveSibling("flink-io-of-a-test"));
      try {
        Process other = start(beside, "stay");
        Path path = awaitDirectory(other);
        backends.open();
        assertThat(path).exists();
        killNow(other);
        backends.open();
        assertThat(path).doesNotExist();
      } finally {
        Files.deleteIfExists(beside);
      }
    }
  }

  private List<Path> directories() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.toList();
    }
  }

  @Test
  void isForItsOwnerAlone() throws IOException {
    assumeThat(directory.getFileSystem().supportedFileAttributeViews()).contains("posix");
    try (LocalDirectory own = LocalDirectory.create(directory, "operator")) {
      assertThat(Files.getPosixFilePermissions(own.path()))
          .isEqualTo(PosixFilePermissions.fromString("rwx------"));
      for (Path child : LocalDirectory.children(own.path(), "")) {
        assertThat(Files.getPosixFilePermissions(child))
            .isEqualTo(PosixFilePermissions.fromString("rw-------"));
      }
    }
  }

  @Test
  void aDirectoryThatCannotBeCreatedNamesTheOption() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "not a directory");
    assertThatThrownBy(() -> LocalDirectory.create(file, "operator"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("directory=" + file)
        .hasMessageContaining("state.backend.faster.local-dir")
        .hasMessageContaining("io.tmp.dirs");
  }
}
