package io.fasterkv.bench;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the rooms of the benchmarks and of the demo. */
class BenchRoomsTest {
  private static final String BENCH = "io.fasterkv.bench";
  private static final String DEMO = "io.fasterkv.demo";
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(BENCH, DEMO);

  @Test
  void roomsHaveNoCycles() {
    slices().matching(BENCH + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    slices().matching(BENCH + ".cpr.(*)..").should().beFreeOfCycles().check(CLASSES);
    slices().matching(DEMO + ".(*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void noRoomImportsTheDoor() {
    noClasses()
        .that()
        .resideInAnyPackage(BENCH + ".*..", DEMO + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(BENCH)
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage(DEMO + ".*..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(DEMO)
        .check(CLASSES);
  }

  /** From top to bottom: commands share the rooms below them, which depend on no command. */
  @Test
  void whatCommandsShareKnowsNoCommand() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("shared")
        .definedBy(
            BENCH + ".args..",
            BENCH + ".events..",
            BENCH + ".job..",
            BENCH + ".process..",
            BENCH + ".profile..",
            BENCH + ".report..",
            BENCH + ".runs..",
            BENCH + ".slow..",
            BENCH + ".store..",
            BENCH + ".workload..")
        .layer("commands")
        .definedBy(
            BENCH + ".checkpoints..",
            BENCH + ".cpr..",
            BENCH + ".disk..",
            BENCH + ".flink..",
            BENCH + ".jmh..",
            BENCH + ".jobs..",
            BENCH + ".memory..",
            BENCH + ".nexmark..",
            BENCH + ".rows..",
            BENCH + ".soak..",
            BENCH + ".start..",
            BENCH + ".ycsb..")
        .whereLayer("commands")
        .mayNotBeAccessedByAnyLayer()
        .check(CLASSES);
  }

  @Test
  void theDemoUsesOnlyArgumentsProcessesAndReportsOfTheBenchmarks() {
    noClasses()
        .that()
        .resideInAPackage(DEMO + "..")
        .should()
        .dependOnClassesThat(
            describe(
                "are in another room of the benchmarks",
                type ->
                    type.getPackageName().startsWith(BENCH)
                        && !type.getPackageName().matches(".*\\.bench\\.(args|process|report)")))
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage(BENCH + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(DEMO + "..")
        .check(CLASSES);
  }

  /** Readers copy the packages, so they must compile in a plain Flink project. */
  @ParameterizedTest
  @ValueSource(strings = {DEMO + ".example", BENCH + ".jobs.example"})
  void theExamplesUseOnlyFlink(String example) {
    classes()
        .that()
        .resideInAPackage(example)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(example, "java..", "org.apache.flink..", "org.jspecify..")
        .check(CLASSES);
  }
}
