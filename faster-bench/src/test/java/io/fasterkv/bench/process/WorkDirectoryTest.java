package io.fasterkv.bench.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkDirectoryTest {
  @TempDir private Path parent;

  @Test
  void aRunThatEndsLeavesNothing() throws IOException {
    WorkDirectory run = WorkDirectory.create(parent);
    Files.writeString(run.directory("checkpoints").resolve("state"), "some");

    run.delete();

    assertThat(run.path()).doesNotExist();
    assertThat(run.removedRuns()).isZero();
  }

  @Test
  void aKilledRunIsRemovedByTheNextAndALiveOneIsNot() throws Exception {
    try (WorkDirectory live = WorkDirectory.create(parent)) {
      Process other = start();
      Path dead;
      try (BufferedReader reader = other.inputReader()) {
        dead = Path.of(reader.readLine());
        WorkDirectory third = WorkDirectory.create(parent);
        assertThat(third.removedRuns()).isZero();
        assertThat(dead.resolve("left/over")).exists();
        third.delete();
      } finally {
        other.destroyForcibly().waitFor();
      }

      WorkDirectory next = WorkDirectory.create(parent);

      assertThat(next.removedRuns()).isEqualTo(1);
      assertThat(dead).doesNotExist();
      assertThat(live.path()).exists();
      next.delete();
    }
  }

  @Test
  void aFailedRunStaysUntilTheNextStartAndAKeptOneForEver() throws IOException {
    WorkDirectory failed = WorkDirectory.create(parent);
    failed.close();
    WorkDirectory kept = WorkDirectory.create(parent);
    assertThat(kept.removedRuns()).isEqualTo(1);
    kept.keep();
    kept.close();

    WorkDirectory next = WorkDirectory.create(parent);

    assertThat(next.removedRuns()).isZero();
    assertThat(failed.path()).doesNotExist();
    assertThat(kept.path()).exists();
    next.delete();
  }

  @Test
  void otherDirectoriesAreNeverTouched() throws IOException {
    Files.createDirectories(parent.resolve("run-1-2"));
    Files.createDirectories(parent.resolve("notes"));
    Files.writeString(parent.resolve("notes").resolve("run.lock"), "");

    WorkDirectory run = WorkDirectory.create(parent);
    run.delete();

    assertThat(parent.resolve("run-1-2")).exists();
    assertThat(parent.resolve("notes").resolve("run.lock")).exists();
  }

  private Process start() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            OtherRun.class.getName(),
            parent.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Another run of the demo, which runs until it is killed. */
  static final class OtherRun {
    private OtherRun() {}

    public static void main(String[] arguments) throws Exception {
      WorkDirectory run = WorkDirectory.create(Path.of(arguments[0]));
      Files.writeString(run.directory("left").resolve("over"), "");
      System.out.println(run.path());
      Thread.sleep(60_000);
    }
  }
}
