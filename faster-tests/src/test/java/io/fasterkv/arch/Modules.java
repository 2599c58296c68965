package io.fasterkv.arch;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.fasterkv.FasterStore;
import io.fasterkv.flink.FasterStateBackend;
import java.net.URL;

/** The classes of each module, read from the class path: a directory or a jar. */
final class Modules {
  static final URL CORE_LOCATION = locationOf(FasterStore.class);
  static final JavaClasses CORE = new ClassFileImporter().importUrl(CORE_LOCATION);
  static final JavaClasses FLINK =
      new ClassFileImporter().importUrl(locationOf(FasterStateBackend.class));

  private Modules() {}

  private static URL locationOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }
}
