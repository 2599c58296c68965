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

/** The packaged jar for Flink's {@code lib} folder, and Flink's own jars. */
public final class OneJar {
  private static final String PROPERTY = "faster.jar";

  /** Parts of paths of jars that are on the tests' class path but not in Flink's {@code lib}. */
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
   * The path of the jar.
   *
   * @throws IllegalStateException if the jar was not packaged; the message says how to package it
   */
  public static Path path() {
    String path = System.getProperty(PROPERTY, "not set");
    if (!Files.isRegularFile(Path.of(path))) {
      throw new IllegalStateException(
          "the jar for Flink's lib folder was not packaged: "
              + PROPERTY
              + "="
              + path
              + "; run these tests with: mvn -pl faster-tests -am verify -DskipITs=false"
              + " -Dtest=none -Dsurefire.failIfNoSpecifiedTests=false");
    }
    return Path.of(path);
  }

  /** The jars of Flink and of its dependencies, as resolved by Maven. */
  public static List<Path> flink() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .filter(entry -> NOT_OF_FLINK.stream().noneMatch(entry::contains))
        .filter(entry -> !entry.contains(File.separator + "faster-"))
        .map(Path::of)
        .toList();
  }

  /** A class loader for jars, with a parent. */
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
