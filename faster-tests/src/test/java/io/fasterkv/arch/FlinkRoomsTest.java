package io.fasterkv.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.fasterkv.arch.Modules.FLINK;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks the rooms of the state backend. */
class FlinkRoomsTest {
  private static final String ROOT = "io.fasterkv.flink";

  /**
   * The rooms that contain dependency cycles between classes, with the size of the largest cycle.
   * All other rooms have none.
   */
  private static final Map<String, Integer> KNOTS =
      Map.of(
          ROOT + ".records.base", 3,
          ROOT + ".records.tree", 3,
          ROOT + ".snapshot", 2,
          ROOT + ".state", 3);

  @Test
  void roomsHaveNoCycles() {
    slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(FLINK);
  }

  @Test
  void classesOfARoomKnowEachOtherInNoLargerCircle() {
    Set<String> rooms = FLINK.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    Knots.check(rooms, FLINK, KNOTS);
  }

  /** From top to bottom: a room of records imports only rooms above it. */
  @Test
  void theRoomsOfRecordsAreInOrder() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("base")
        .definedBy(ROOT + ".records.base")
        .layer("shapes")
        .definedBy(ROOT + ".records.map", ROOT + ".records.list", ROOT + ".records.tree")
        .layer("what may be dropped")
        .definedBy(ROOT + ".records")
        .layer("write")
        .definedBy(ROOT + ".records.write")
        .whereLayer("write")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("what may be dropped")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("shapes")
        .mayOnlyBeAccessedByLayers("what may be dropped", "write")
        .check(FLINK);
    slices().matching(ROOT + ".records.(*)").should().beFreeOfCycles().check(FLINK);
  }

  @Test
  void noRoomImportsTheDoor() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".*..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT)
        .check(FLINK);
  }

  @Test
  void statesKnowNoBackend() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".state..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT + ".backend..")
        .check(FLINK);
  }

  @Test
  void usesOnlyExportedPackagesOfTheStore() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.fasterkv.memory..",
            "io.fasterkv.epoch..",
            "io.fasterkv.state..",
            "io.fasterkv.device.*..",
            "io.fasterkv.record..",
            "io.fasterkv.log..",
            "io.fasterkv.index..",
            "io.fasterkv.operation..",
            "io.fasterkv.checkpoint..",
            "io.fasterkv.compaction..")
        .check(FLINK);
  }

  @Test
  void noUnsafeAndNoInternals() {
    Internals.areNotUsed().check(FLINK);
  }

  /** Stores and backends write their log lines through the log of their operator. */
  @Test
  void onlyTheLogOfAnOperatorAndTheCheckOfOptionsUseSlf4j() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + ".backend.OperatorLog")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + ".config.UnknownOptions")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.slf4j..")
        .check(FLINK);
  }

  @Test
  void nothingElseChoosesALogger() {
    noClasses().should().callMethodWhere(LogLines.CHOOSES_A_LOGGER).check(FLINK);
  }

  @Test
  void logLinesTakeNoParameters() {
    noClasses().should().callMethodWhere(LogLines.TAKES_PARAMETERS).check(FLINK);
  }

  @Test
  void noConstructorTakesMoreThanSixParameters() {
    constructors()
        .that()
        .areDeclaredInClassesThat()
        .areNotRecords()
        .should(new AtMostSixParameters())
        .check(FLINK);
  }
}
