package io.fasterkv.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The Markdown files and the Java files of the project. */
final class Documents {
  /** The project's directory. Tests run in the directory of their module. */
  static final Path ROOT = Path.of("").toAbsolutePath().resolveSibling("");

  private static final String FENCE = "```";

  private Documents() {}

  /**
   * A line of text.
   *
   * @param file the file that contains it
   * @param number counted from 1
   * @param text without the line terminator
   * @param isCode whether it is part of a fenced block
   */
  record Line(Path file, int number, String text, boolean isCode) {
    @Override
    public String toString() {
      return ROOT.relativize(file) + ":" + number + ": " + text.strip();
    }
  }

  /** All Markdown files at the top level and in docs, sorted. */
  static List<Path> all() {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(top, docs)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All Java files of the modules and of the examples. */
  static List<Path> sources() {
    try (Stream<Path> top = Files.list(ROOT)) {
      List<Path> roots = new ArrayList<>(top.map(each -> each.resolve("src")).toList());
      roots.add(ROOT.resolve("docs").resolve("examples"));
      List<Path> found = new ArrayList<>();
      for (Path root : roots) {
        if (Files.isDirectory(root)) {
          try (Stream<Path> files = Files.walk(root)) {
            found.addAll(files.filter(file -> file.toString().endsWith(".java")).sorted().toList());
          }
        }
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Line> lines(Path file) {
    List<Line> lines = new ArrayList<>();
    boolean isCode = false;
    int number = 1;
    for (String text : read(file).lines().toList()) {
      boolean isFence = text.strip().startsWith(FENCE);
      lines.add(new Line(file, number++, text, isCode || isFence));
      isCode ^= isFence;
    }
    return lines;
  }

  /** The fenced blocks of a language. */
  static List<String> blocks(Path file, String language) {
    List<String> blocks = new ArrayList<>();
    String[] parts = ("\n" + read(file)).split("\n" + FENCE, -1);
    for (int i = 1; i < parts.length; i += 2) {
      if (parts[i].startsWith(language + "\n")) {
        blocks.add(parts[i].substring(language.length() + 1));
      }
    }
    return blocks;
  }

  /** The anchors of a file's headings. */
  static Set<String> anchors(Path file) {
    return lines(file).stream()
        .filter(line -> !line.isCode() && line.text().startsWith("#"))
        .map(line -> line.text().replaceFirst("^#+ +", "").toLowerCase(Locale.ROOT))
        .map(title -> title.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
