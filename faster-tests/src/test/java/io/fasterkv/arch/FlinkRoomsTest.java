package io.fasterkv.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.fasterkv.arch.Modules.FLINK;

import org.junit.jupiter.api.Test;

/** The rooms of the state backend. */
class FlinkRoomsTest {
  private static final String ROOT = "io.fasterkv.flink";

  @Test
  void roomsHaveNoCycles() {
    slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(FLINK);
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
  void ofTheStoreOnlyWhatItExports() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.fasterkv.memory..",
            "io.fasterkv.epoch..",
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
