package io.fasterkv.packaging;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** A jar with the classes of one of the tests' packages, as a user would provide them. */
public final class JarOfTests {
  private JarOfTests() {}

  /**
   * Writes the package of {@code type}, without its subpackages.
   *
   * @return {@code jar}
   */
  public static Path of(Class<?> type, Path jar) throws Exception {
    return of(type, jar, jar.resolveSibling("nothing"));
  }

  /**
   * Like {@link #of(Class, Path)}, with other versions of some classes.
   *
   * @param replaced a directory with those versions, in the directories of their packages
   */
  public static Path of(Class<?> type, Path jar, Path replaced) throws Exception {
    Path root = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path directory = root.resolve(type.getPackageName().replace('.', '/'));
    List<Path> classes;
    try (Stream<Path> files = Files.list(directory)) {
      classes = files.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    Files.createDirectories(jar.getParent());
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out)) {
      for (Path file : classes) {
        Path name = root.relativize(file);
        Path other = replaced.resolve(name.toString());
        add(entries, name.toString().replace('\\', '/'), Files.exists(other) ? other : file);
      }
    }
    return jar;
  }

  private static void add(JarOutputStream entries, String name, Path file) throws IOException {
    entries.putNextEntry(new JarEntry(name));
    Files.copy(file, entries);
    entries.closeEntry();
  }
}
