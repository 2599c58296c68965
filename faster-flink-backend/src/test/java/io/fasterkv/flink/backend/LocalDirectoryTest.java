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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that directories of killed processes are removed, and those of running ones never are. */
@Timeout(120)
class LocalDirectoryTest {
  @TempDir Path directory;

  private final List<Process> processes = new ArrayList<>();

  /** The main method of another process. */
  public static final class OtherProcess {
    private OtherProcess() {}

    /** Creates a directory below the first argument and waits, or removes dead ones on request. */
    @SuppressWarnings("SystemOut")
    public static void main(String[] args) throws Exception {
      Path parent = Path.of(args[0]);
      if (args[1].equals("remove")) {
        LocalDirectory.removeDead(parent, System.getLogger("test"));
        return;
      }
      LocalDirectory own = LocalDirectory.create(parent, "operator 1", System.getLogger("test"));
      Files.createDirectories(own.path().resolve("log"));
      Files.writeString(own.path().resolve("log").resolve("log.0"), "bytes");
      System.out.println(own.path());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  @BeforeEach
  void onlyWhereProcessesHaveStartTimes() {
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

  /** Waits for the directory that a process creates. */
  private static Path awaitDirectory(Process process) throws IOException {
    return Path.of(process.inputReader().readLine());
  }

  private static void killNow(Process process) throws InterruptedException {
    assertThat(process.destroyForcibly().waitFor()).as("killed by signal 9").isEqualTo(128 + 9);
  }

  @Tag("slow")
  @Test
  void onlyDirectoriesOfKilledProcessesAreRemoved() throws Exception {
    Process first = start(directory, "stay");
    Process second = start(directory, "stay");
    Path firstPath = awaitDirectory(first);
    Path secondPath = awaitDirectory(second);
    Path foreign = Files.createDirectories(directory.resolve("faster-but-not-ours"));
    try (LocalDirectory own =
        LocalDirectory.create(directory, "operator 2", System.getLogger("test"))) {
      LocalDirectory.removeDead(directory, System.getLogger("test"));
      assertThat(directories()).contains(firstPath, secondPath, foreign, own.path()).hasSize(4);
      killNow(first);
      LocalDirectory.removeDead(directory, System.getLogger("test"));
      assertThat(directories()).contains(secondPath, foreign, own.path()).hasSize(3);
      assertThat(secondPath.resolve("log").resolve("log.0")).hasContent("bytes");
      // Examining directories must not release this process's lock.
      assertThat(start(directory, "remove").waitFor()).isZero();
      assertThat(directories()).contains(secondPath, foreign, own.path()).hasSize(3);
    }
    killNow(second);
    assertThat(start(directory, "remove").waitFor()).isZero();
    assertThat(directories()).containsExactly(foreign);
  }

  /** Locks say nothing about an owner on another machine or from another boot. */
  @Test
  void directoriesOfAnotherPlaceAreLeftAlone() throws Exception {
    Process other = start(directory, "stay");
    Path path = awaitDirectory(other);
    killNow(other);
    Path owner = LocalDirectory.children(path, "owner-").getFirst();
    String name = owner.getFileName().toString();
    Path elsewhere = path.resolve(name.replaceFirst("owner-.", "owner-x"));
    Files.move(owner, elsewhere);
    LocalDirectory.removeDead(directory, System.getLogger("test"));
    assertThat(path).as("of another machine, or from before a reboot").exists();
    Files.move(elsewhere, owner);
    LocalDirectory.removeDead(directory, System.getLogger("test"));
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

  /** Flink has one temporary directory for each process. */
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
    try (LocalDirectory own =
        LocalDirectory.create(directory, "operator", System.getLogger("test"))) {
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
    assertThatThrownBy(() -> LocalDirectory.create(file, "operator", System.getLogger("test")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("directory=" + file)
        .hasMessageContaining("state.backend.faster.local-dir")
        .hasMessageContaining("io.tmp.dirs");
  }
}
