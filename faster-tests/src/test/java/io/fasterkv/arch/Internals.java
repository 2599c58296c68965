package io.fasterkv.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;

/** Packages that no module may use, because any JDK release may remove them. */
final class Internals {
  private Internals() {}

  static ArchRule areNotUsed() {
    return noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("sun..", "jdk.internal..", "com.sun..");
  }
}
