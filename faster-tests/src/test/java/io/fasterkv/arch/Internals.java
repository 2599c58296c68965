package io.fasterkv.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;

/** What no module uses: it may go away with any JDK. */
final class Internals {
  private Internals() {}

  static ArchRule areNotUsed() {
    return noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("sun..", "jdk.internal..", "com.sun..");
  }
}
