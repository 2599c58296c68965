package io.fasterkv.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.fasterkv.arch.Modules.CORE;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rooms of faster-core, as docs/ARCHITECTURE.md lists them. */
class CoreRoomsTest {
  private static final String ROOT = "io.fasterkv";

  /** From top to bottom: a room imports only rooms above it. */
  private static final List<String> ROOMS =
      List.of(
          ROOT + ".api",
          ROOT + ".memory",
          ROOT + ".epoch",
          ROOT + ".record",
          ROOT + ".device",
          ROOT + ".log",
          ROOT + ".index",
          ROOT + ".operation",
          ROOT + ".checkpoint",
          ROOT + ".compaction",
          ROOT);

  private static final Set<String> EXPORTED =
      Set.of(ROOT, ROOT + ".api", ROOT + ".device", ROOT + ".epoch");

  static List<String> roomsWithOneBelow() {
    return ROOMS.subList(0, ROOMS.size() - 1);
  }

  @Test
  void everyPackageIsARoom() {
    Set<String> packages =
        CORE.stream()
            .map(JavaClass::getPackageName)
            .filter(name -> !name.isEmpty())
            .collect(Collectors.toSet());
    assertThat(packages).containsExactlyInAnyOrderElementsOf(ROOMS);
  }

  @ParameterizedTest
  @MethodSource("roomsWithOneBelow")
  void noRoomImportsARoomBelowIt(String room) {
    List<String> below = ROOMS.subList(ROOMS.indexOf(room) + 1, ROOMS.size());
    noClasses()
        .that()
        .resideInAPackage(room)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(below.toArray(String[]::new))
        .check(CORE);
  }

  @Test
  void roomsHaveNoCycles() {
    slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CORE);
  }

  @Test
  void theIndexKnowsNoLog() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".index")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".log", ROOT + ".device")
        .check(CORE);
  }

  @Test
  void theLogKnowsNoIndex() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".log")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".index", ROOT + ".operation")
        .check(CORE);
  }

  @Test
  void onlyMemoryOpensArenasAndHoldsVarHandles() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".memory")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Arena.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(VarHandle.class)
        .check(CORE);
  }

  @Test
  void nothingButTheJdkAndJspecify() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "org.jspecify..", ROOT, ROOT + "..")
        .check(CORE);
  }

  @Test
  void noUnsafeAndNoInternals() {
    Internals.areNotUsed().check(CORE);
  }

  @Test
  void theStoreKnowsNoFlink() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".flink..", "org.apache.flink..")
        .check(CORE);
  }

  @Test
  void rootApiDeviceAndEpochAreExportedAndNothingElse() throws URISyntaxException {
    ModuleDescriptor module =
        ModuleFinder.of(Path.of(Modules.CORE_LOCATION.toURI()))
            .find(ROOT)
            .orElseThrow()
            .descriptor();
    assertThat(module.exports())
        .allMatch(export -> !export.isQualified())
        .extracting(ModuleDescriptor.Exports::source)
        .containsExactlyInAnyOrderElementsOf(EXPORTED);
  }

  @Test
  void exportedClassesExposeNoHiddenType() {
    classes()
        .that()
        .resideInAnyPackage(EXPORTED.toArray(String[]::new))
        .and()
        .arePublic()
        .should(new ExposeOnly(EXPORTED))
        .check(CORE);
  }

  @Test
  void noConstructorTakesMoreThanSixParameters() {
    constructors()
        .that()
        .areDeclaredInClassesThat()
        .areNotRecords()
        .should(new AtMostSixParameters())
        .check(CORE);
  }
}
