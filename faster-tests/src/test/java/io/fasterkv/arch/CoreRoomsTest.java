package io.fasterkv.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.fasterkv.arch.Modules.CORE;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the rooms of faster-core, as docs/ARCHITECTURE.md lists them. */
class CoreRoomsTest {
  private static final String ROOT = "io.fasterkv";

  /** From top to bottom: a room imports only rooms above it. */
  private static final List<String> ROOMS =
      List.of(
          ROOT + ".api",
          ROOT + ".spi",
          ROOT + ".api.config",
          ROOT + ".api.session",
          ROOT + ".api.checkpoint",
          ROOT + ".api.statistics",
          ROOT + ".memory",
          ROOT + ".epoch",
          ROOT + ".state",
          ROOT + ".record",
          ROOT + ".device",
          ROOT + ".device.file",
          ROOT + ".device.ring",
          ROOT + ".device.memory",
          ROOT + ".device.restore",
          ROOT + ".log",
          ROOT + ".index",
          ROOT + ".operation.version",
          ROOT + ".operation.core",
          ROOT + ".operation.search",
          ROOT + ".operation.large",
          ROOT + ".operation.delta",
          ROOT + ".operation.fastpath",
          ROOT + ".operation",
          ROOT + ".operation.session",
          ROOT + ".operation.move",
          ROOT + ".operation.resize",
          ROOT + ".checkpoint.manifest",
          ROOT + ".checkpoint.export",
          ROOT + ".checkpoint.write",
          ROOT + ".checkpoint.shift",
          ROOT + ".checkpoint.recover",
          ROOT + ".checkpoint.inspect",
          ROOT + ".compaction",
          ROOT);

  /**
   * The rooms that contain dependency cycles between classes, with the size of the largest cycle.
   * All other rooms have none.
   */
  private static final Map<String, Integer> KNOTS =
      Map.ofEntries(
          Map.entry(ROOT + ".api", 3),
          Map.entry(ROOT + ".api.config", 3),
          Map.entry(ROOT + ".memory", 2),
          Map.entry(ROOT + ".epoch", 3),
          Map.entry(ROOT + ".record", 3),
          Map.entry(ROOT + ".device", 3),
          Map.entry(ROOT + ".device.file", 2),
          Map.entry(ROOT + ".device.ring", 2),
          Map.entry(ROOT + ".device.restore", 3),
          Map.entry(ROOT + ".log", 2),
          Map.entry(ROOT + ".index", 2),
          Map.entry(ROOT + ".operation.fastpath", 3),
          Map.entry(ROOT, 2));

  private static final Set<String> EXPORTED =
      Set.of(
          ROOT,
          ROOT + ".api",
          ROOT + ".api.checkpoint",
          ROOT + ".api.config",
          ROOT + ".api.session",
          ROOT + ".api.statistics",
          ROOT + ".device",
          ROOT + ".epoch",
          ROOT + ".spi");

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

  /** Settings and requests, which are rooms of the API, accept types that integrators implement. */
  @Test
  void roomsHaveNoCycles() {
    slices()
        .matching(ROOT + ".(*)..")
        .should()
        .beFreeOfCycles()
        .ignoreDependency(
            resideInAnyPackage(ROOT + ".api.config", ROOT + ".api.checkpoint"),
            resideInAnyPackage(ROOT + ".spi"))
        .check(CORE);
  }

  @Test
  void classesOfARoomKnowEachOtherInNoLargerCircle() {
    Knots.check(ROOMS, CORE, KNOTS);
  }

  @Test
  void theIndexKnowsNoLog() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".index")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".log", ROOT + ".device..")
        .check(CORE);
  }

  @Test
  void theLogKnowsNoIndex() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".log")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".index", ROOT + ".operation..")
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
  void rootApiDeviceEpochAndSpiAreExportedAndNothingElse() throws URISyntaxException {
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
  void noLoggerIsStatic() {
    noFields()
        .that()
        .haveRawType(assignableTo(System.Logger.class))
        .should()
        .beStatic()
        .check(CORE);
  }

  /** Stores write every log line to the logger in their settings. */
  @Test
  void onlyTheSettingsChooseALogger() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(StoreConfigBuilder.class.getName())
        .should()
        .callMethodWhere(LogLines.CHOOSES_A_LOGGER)
        .check(CORE);
  }

  @Test
  void logLinesTakeNoParameters() {
    noClasses().should().callMethodWhere(LogLines.TAKES_PARAMETERS).check(CORE);
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
