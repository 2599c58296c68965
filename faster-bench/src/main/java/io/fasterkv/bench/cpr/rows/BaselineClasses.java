package io.fasterkv.bench.cpr.rows;

import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The store at an earlier revision: its sources from git, compiled into a directory. */
public final class BaselineClasses {
  /** The newest revision without concurrent prefix recovery. */
  public static final String BEFORE_CPR = "9b901f2";

  private static final String SOURCES = "faster-core/src/main/java";

  /** Only the names are needed to compile. */
  private static final List<List<String>> ANNOTATIONS =
      List.of(
          List.of("NullMarked", ""),
          List.of("NullUnmarked", ""),
          List.of(
              "Nullable",
              "@java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) "));

  private BaselineClasses() {}

  /**
   * Compiles a revision.
   *
   * @throws IOException with the reason if that is not possible here
   */
  public static Path compile(String revision, Path directory) throws IOException {
    Files.createDirectories(directory);
    Path archive = directory.resolve("sources.zip");
    Commands.run(
        List.of(
            "git",
            "-C",
            checkout().toString(),
            "archive",
            "--format=zip",
            "--output=" + archive,
            revision,
            SOURCES));
    Path classes = Files.createDirectories(directory.resolve("classes"));
    try (FileSystem zip = FileSystems.newFileSystem(archive)) {
      List<Path> sources = unpack(zip.getPath(SOURCES), directory.resolve("sources"));
      compile(sources, classes);
    }
    return classes;
  }

  /** The root of the work tree that this program was built in. */
  private static Path checkout() throws IOException {
    try {
      Path own =
          Path.of(
              BaselineClasses.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      Path directory = Files.isDirectory(own) ? own : own.resolveSibling(".");
      return Path.of(
          Commands.run(List.of("git", "-C", directory.toString(), "rev-parse", "--show-toplevel"))
              .strip());
    } catch (URISyntaxException e) {
      throw new IOException("no directory of this program's classes is known", e);
    }
  }

  private static List<Path> unpack(Path from, Path to) throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> entries = Files.walk(from)) {
      for (Path entry : entries.filter(each -> each.toString().endsWith(".java")).toList()) {
        if (!entry.endsWith("module-info.java")) { // on the class path
          Path source = to.resolve(from.relativize(entry).toString());
          Files.createDirectories(to.resolve(from.relativize(entry.getParent()).toString()));
          Files.copy(entry, source);
          sources.add(source);
        }
      }
    }
    Path annotations = Files.createDirectories(to.resolve("org/jspecify/annotations"));
    for (List<String> annotation : ANNOTATIONS) {
      Path source = annotations.resolve(annotation.getFirst() + ".java");
      Files.writeString(
          source,
          "package org.jspecify.annotations;\n"
              + annotation.getLast()
              + "public @interface "
              + annotation.getFirst()
              + " {}\n");
      sources.add(source);
    }
    return sources;
  }

  private static void compile(List<Path> sources, Path classes) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IOException("this Java has no compiler: home=" + System.getProperty("java.home"));
    }
    Writer messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean isDone =
          compiler
              .getTask(
                  messages,
                  files,
                  null,
                  List.of("-d", classes.toString(), "-proc:none", "-nowarn"),
                  null,
                  files.getJavaFileObjectsFromPaths(sources))
              .call();
      if (!isDone) {
        throw new IOException("the revision does not compile: " + messages);
      }
    }
  }
}
