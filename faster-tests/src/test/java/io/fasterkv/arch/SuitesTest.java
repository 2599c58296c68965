package io.fasterkv.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that {@code mvn verify} and {@code mvn verify -Plong} together run all tests. */
class SuitesTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");
  private static final List<String> MODULES =
      List.of("faster-core", "faster-flink-backend", "faster-bench", "faster-tests");
  private static final Pattern TEST_METHOD =
      Pattern.compile(
          "^  @(Test|ParameterizedTest|RepeatedTest|TestTemplate|TestFactory|ArchTest)\\b",
          Pattern.MULTILINE);
  private static final Pattern ABSTRACT =
      Pattern.compile("^(public )?(abstract class|interface) ", Pattern.MULTILINE);
  private static final Pattern INHERITS =
      Pattern.compile("^(public )?(final )?class \\w+ extends ", Pattern.MULTILINE);
  private static final String PROCESSES =
      "@EnabledIfSystemProperty(named = \"faster.processes\", matches = \"true\")";
  private static final Pattern SEEDS = Pattern.compile("\\bSeeds(\\.|::)(?!(bytes|java)\\b)");
  private static final Pattern TAG_OF_SEEDS =
      Pattern.compile("^@Tag\\(\"seeds\"\\)$", Pattern.MULTILINE);

  /**
   * By default Maven skips one tag, tests with processes and stress tests, and runs a part of the
   * seeds; the profile runs all of these.
   */
  @Test
  void theProfileRunsWhatTheDefaultLeavesOut() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));
    int profile = pom.indexOf("<id>long</id>");
    assertThat(profile).isPositive();
    String defaults = pom.substring(0, profile);
    String inProfile = pom.substring(profile, pom.indexOf("</profile>", profile));
    assertThat(defaults)
        .contains("<tests.tags>!long</tests.tags>")
        .contains("<skipITs>true</skipITs>")
        .contains("<jcstress.skip>true</jcstress.skip>");
    assertThat(inProfile)
        .contains("<tests.tags>long | seeds</tests.tags>")
        .contains("<tests.oneSeedOf>1</tests.oneSeedOf>")
        .contains("<skipITs>false</skipITs>")
        .contains("<jcstress.skip>false</jcstress.skip>");
  }

  /** A test with a part of the seeds in one build has all of them in the other. */
  @Test
  void everyTestWithSeedsHasTheirTag() throws IOException {
    List<Path> tests =
        sources().stream()
            .filter(file -> !file.endsWith("Seeds.java") && SEEDS.matcher(read(file)).find())
            .toList();
    // Helpers take their seeds, or the number of rounds, from the test.
    assertThat(tests)
        .hasSizeGreaterThan(60)
        .allMatch(file -> TEST_METHOD.matcher(read(file)).find())
        .allMatch(file -> TAG_OF_SEEDS.matcher(read(file)).find());
  }

  /** No module skips further tests. */
  @Test
  void onlyTheTagLeavesTestsOut() throws IOException {
    for (String module : MODULES) {
      String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
      assertThat(pom)
          .as(module)
          .doesNotContain("<excludedGroups>")
          .doesNotContain("<skipTests>")
          .doesNotContain("<tests.tags>")
          .doesNotContain("<skipITs>");
    }
    String backend = Files.readString(ROOT.resolve("faster-flink-backend").resolve("pom.xml"));
    assertThat(backend)
        .contains("<groups>(${tests.tags}) &amp; !no-native-access</groups>")
        .contains("<groups>(${tests.tags}) &amp; no-native-access</groups>");
  }

  /** A property selects only what needs a machine of its own; see {@code faster.processes}. */
  @Test
  void noPropertyEnablesTests() throws IOException {
    assertThat(sources())
        .filteredOn(file -> !file.endsWith("SuitesTest.java"))
        .allMatch(file -> !read(file).replace(PROCESSES, "").contains("@EnabledIf"));
    assertThat(Files.readString(ROOT.resolve("faster-tests").resolve("pom.xml")))
        .contains("<faster.processes>true</faster.processes>");
  }

  /** Maven selects test classes by their names. */
  @Test
  void everyClassWithTestsHasTheNameOfOne() throws IOException {
    List<Path> tests =
        sources().stream()
            .filter(file -> TEST_METHOD.matcher(read(file)).find())
            .filter(file -> !ABSTRACT.matcher(read(file)).find())
            .toList();
    assertThat(tests)
        .hasSizeGreaterThan(250)
        .allMatch(
            file -> file.toString().endsWith("Test.java") || file.toString().endsWith("IT.java"));
  }

  /** A class may inherit its tests. */
  @Test
  void everyClassWithTheNameOfOneHasTests() throws IOException {
    assertThat(sources())
        .filteredOn(file -> file.toString().endsWith("Test.java"))
        .filteredOn(file -> !INHERITS.matcher(read(file)).find())
        .hasSizeGreaterThan(250)
        .allMatch(file -> TEST_METHOD.matcher(read(file)).find());
  }

  /** The test sources of all modules. */
  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
        files.filter(each -> each.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    return sources;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
