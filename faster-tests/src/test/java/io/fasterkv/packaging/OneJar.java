package io.fasterkv.packaging;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The jar for Flink's {@code lib} folder, as the build has packaged it, and Flink's own jars. */
public final class OneJar {
  private static final String PROPERTY = "faster.jar";

  /** What is on the tests' class path and not in Flink's {@code lib}; part of a jar's path. */
  private static final Set<String> NOT_OF_FLINK =
      Set.of(
          "/io/fasterkv/",
          "/org/agrona/",
          "/org/jspecify/",
          "/org/junit/",
          "/org/assertj/",
          "/com/tngtech/archunit/",
          "/org/openjdk/jcstress/");

  private OneJar() {}

  /**
   * Where the jar is.
   *
   * @throws IllegalStateException if it was not packaged; says how to do that
   */
  public static Path path() {
    String path = System.getProperty(PROPERTY, "not set");
    if (!Files.isRegularFile(Path.of(path))) {
      throw new IllegalStateException(
          "the jar for Flink's lib folder was not packaged: "
              + PROPERTY
              + "="
              + path
              + "; run these tests with: mvn -pl faster-tests -am verify -Dtest=none"
              + " -Dsurefire.failIfNoSpecifiedTests=false -Djcstress.skip");
    }
    return Path.of(path);
  }

  /** Flink and the libraries that it brings, as Maven resolved them. */
  public static List<Path> flink() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .filter(entry -> NOT_OF_FLINK.stream().noneMatch(entry::contains))
        .filter(entry -> !entry.contains(File.separator + "faster-"))
        .map(Path::of)
        .toList();
  }

  /** A class loader for jars, over {@code parent}. */
  public static URLClassLoader loader(List<Path> jars, ClassLoader parent) {
    return new URLClassLoader(jars.stream().map(OneJar::url).toArray(URL[]::new), parent);
  }

  private static URL url(Path path) {
    try {
      return path.toUri().toURL();
    } catch (MalformedURLException impossible) {
      throw new IllegalArgumentException(path.toString(), impossible);
    }
  }
}
