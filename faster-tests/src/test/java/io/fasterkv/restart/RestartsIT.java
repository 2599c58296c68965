package io.fasterkv.restart;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.packaging.JarOfTests;
import io.fasterkv.packaging.OneJar;
import io.fasterkv.process.Jvm;
import io.fasterkv.process.TiedMain;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what a process retains after jobs were restarted repeatedly. Each store has 64 MiB; the
 * heap is resident from the start and cannot grow, so memory that a store leaks is visible in the
 * process's size.
 */
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class RestartsIT {
  private static final int RESTARTS = 100;

  /** During the restarts before this one, the JVM still compiles and loads classes. */
  private static final int SETTLED = 40;

  private static final long SLACK_BYTES = 32 << 20;

  /**
   * From this restart on, the C library would retain 30 to 68 MiB more if each attempt allocated
   * its own memory.
   */
  private static final int EARLY = 20;

  private static final long EARLY_SLACK_BYTES = 20 << 20;

  /** Memory comes from the C library when native access is denied, otherwise from the kernel. */
  private static final List<String> DENIED = List.of("--illegal-native-access=deny");

  @TempDir private Path directory;

  @Test
  void hundredRestartsReturnResidentMemoryToWhereItWas() throws Exception {
    List<String> lines = run(1, RESTARTS, 0, true, List.of());

    assertThat(resident(lines, RESTARTS) - resident(lines, SETTLED)).isLessThan(SLACK_BYTES);
    assertThat(lines).contains("native=true", "threads=[]", "loaders=0");
    assertThat(directory.resolve("local")).isEmptyDirectory();
  }

  /** The C library retains freed memory for the one thread that allocates. */
  @Test
  void soDoTheyWithoutNativeAccess() throws Exception {
    List<String> lines = run(1, RESTARTS, 0, true, DENIED);

    assertThat(resident(lines, RESTARTS) - resident(lines, EARLY)).isLessThan(EARLY_SLACK_BYTES);
    assertThat(lines).contains("native=false", "threads=[]", "takers=1");
  }

  /** The same check detects a leak of 1 MiB in each attempt, 1/64 of a store. */
  @Test
  void aLeakOfAMegabyteIsSeen() throws Exception {
    List<String> lines = run(1, RESTARTS, 1 << 20, true, List.of());

    assertThat(resident(lines, RESTARTS) - resident(lines, SETTLED)).isGreaterThan(SLACK_BYTES);
  }

  @Test
  void jobsThatBringTheJarLeaveNoClassLoaderBehind() throws Exception {
    List<String> lines = run(5, 3, 0, false, List.of());

    assertThat(lines).contains("native=true", "threads=[]", "loaders=0", "takers=0");
    assertThat(directory.resolve("local")).isEmptyDirectory();
  }

  private List<String> run(
      int jobs, int failures, long leakedBytes, boolean isInLib, List<String> access)
      throws Exception {
    List<Path> classPath = new ArrayList<>(OneJar.flink());
    classPath.add(JarOfTests.of(RestartingMain.class, directory.resolve("job.jar")));
    classPath.add(JarOfTests.of(TiedMain.class, directory.resolve("tied.jar")));
    List<String> main = new ArrayList<>();
    main.add(RestartingMain.class.getName());
    main.add(directory.toString());
    main.add(Integer.toString(jobs));
    main.add(Integer.toString(failures));
    main.add(Long.toString(leakedBytes));
    if (isInLib) {
      classPath.add(OneJar.path());
    } else {
      main.add(OneJar.path().toString());
    }
    try (Jvm jvm = Jvm.start("restarts", directory, classPath, options(access), main)) {
      int exit = jvm.awaitEnd(20);
      assertThat(exit).as(jvm.tail()).isZero();
      return jvm.lines();
    }
  }

  private static List<String> options(List<String> access) {
    List<String> options = new ArrayList<>(access);
    options.addAll(
        List.of(
            "-Xms160m",
            "-Xmx160m",
            "-XX:+AlwaysPreTouch",
            // The JDK's own soft references to classes are not a leak; a collection clears them.
            "-XX:SoftRefLRUPolicyMSPerMB=0",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1"));
    return options;
  }

  /** Resident memory of the process when state was opened after {@code failures} failures. */
  private static long resident(List<String> lines, int failures) {
    String prefix = "attempt=" + failures + " residentBytes=";
    String line =
        lines.stream()
            .filter(each -> each.startsWith(prefix))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no line " + prefix + " in " + lines));
    return Long.parseLong(line.substring(prefix.length()));
  }
}
