package io.fasterkv.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.docs.Documents.Line;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that links have targets, lines fit on a screen, tables have rows, and sentences are plain,
 * including those in comments.
 */
class DocumentsTest {
  private static final int MOST_COLUMNS = 120;
  private static final int MOST_LINES_OF_README = 150;
  private static final int MOST_WORDS_OF_A_DECISION = 400;
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

  /** Phrases that a native reader would not understand at once. */
  private static final Pattern DIALECT =
      Pattern.compile(
          "\\b(comes? again|starts? over|is let go|are let go|lets? go of|held back|sees? to"
              + " (it|that)|touch(es|ed)? ahead|the (short|general) way|whoever|such as are|is told"
              + " of|is gone|are gone|what is live|(the|log's) begin(?! address|$))\\b"
              + "|(^|[.,;(] )[Ww]ho"
              + " (waits?|reads?|writes?|has|asks?|looks?|wants?|is|does|takes?)\\b");

  private static final Pattern STRING = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern COMMENT = Pattern.compile("^\\s*(?:/?\\*+|//) ?(.*)");
  private static final Pattern TABLE_RULE = Pattern.compile("^\\s*\\|( :?-+:? \\|)+$");

  @Test
  void everyLinkLeadsToAFileAndAHeading() {
    List<String> dead = new ArrayList<>();
    for (Path file : Documents.all()) {
      for (Line line : Documents.lines(file)) {
        Matcher link = LINK.matcher(line.isCode() ? "" : line.text());
        while (link.find()) {
          if (!isAlive(file, link.group(1))) {
            dead.add(line.toString());
          }
        }
      }
    }
    assertThat(dead).isEmpty();
  }

  private static boolean isAlive(Path file, String link) {
    if (link.startsWith("http")) {
      return true;
    }
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? file : file.resolveSibling(parts[0]).normalize();
    return Files.exists(target)
        && (parts.length == 1 || Documents.anchors(target).contains(parts[1]));
  }

  @Test
  void linesFitAScreen() {
    assertThat(prose().filter(line -> line.text().length() > MOST_COLUMNS)).isEmpty();
  }

  @Test
  void sentencesArePlain() {
    assertThat(prose().filter(line -> !line.isCode() && isDialect(line.text()))).isEmpty();
  }

  /** Ignores quotations, such as error messages. */
  private static boolean isDialect(String text) {
    return DIALECT.matcher(text.replaceAll("`[^`]*`", "")).find();
  }

  @Test
  void commentsArePlain() {
    List<Line> comments = code().filter(line -> COMMENT.matcher(line.text()).find()).toList();
    assertThat(comments.stream().filter(line -> isDialect(comment(line)))).isEmpty();
    assertThat(comments).hasSizeGreaterThan(10_000);
  }

  /** Without the names in links. */
  private static String comment(Line line) {
    return COMMENT.matcher(line.text()).replaceFirst("$1").replaceAll("\\{@\\w+ [^}]*}", "");
  }

  /** Messages, log lines and texts of help. */
  @Test
  void stringsArePlain() {
    List<Line> strings =
        code()
            .filter(line -> !line.file().endsWith("DocumentsTest.java"))
            .filter(line -> !COMMENT.matcher(line.text()).find())
            .filter(line -> STRING.matcher(line.text()).find())
            .toList();
    assertThat(strings.stream().filter(DocumentsTest::hasDialectInAString)).isEmpty();
    assertThat(strings).hasSizeGreaterThan(6_000);
  }

  private static boolean hasDialectInAString(Line line) {
    return STRING.matcher(line.text()).results().anyMatch(string -> isDialect(string.group(1)));
  }

  @Test
  void linesOfSourcesFitAScreen() {
    assertThat(code().filter(line -> line.text().length() > MOST_COLUMNS)).isEmpty();
  }

  /** The lines of all sources. */
  private static Stream<Line> code() {
    return Documents.sources().stream().flatMap(file -> Documents.lines(file).stream());
  }

  @Test
  void decisionsAreShort() throws IOException {
    List<String> wordy = new ArrayList<>();
    try (Stream<Path> files = Files.list(Documents.ROOT.resolve("docs/decisions"))) {
      for (Path file : files.filter(each -> !each.endsWith("README.md")).toList()) {
        int words = Files.readString(file).strip().split("\\s+").length;
        if (words > MOST_WORDS_OF_A_DECISION) {
          wordy.add(file.getFileName() + ": " + words + " words");
        }
      }
    }
    assertThat(wordy).isEmpty();
  }

  /** A tool that joins lines can turn a table into a paragraph. */
  @Test
  void tablesHaveRows() {
    assertThat(prose().filter(line -> line.text().contains("| ---")))
        .allMatch(line -> TABLE_RULE.matcher(line.text()).matches());
  }

  @Test
  void theReadmeIsShort() {
    assertThat(Documents.lines(Documents.ROOT.resolve("README.md")))
        .hasSizeLessThanOrEqualTo(MOST_LINES_OF_README);
  }

  /** The lines of all files but the generated tables. */
  private static Stream<Line> prose() {
    return Documents.all().stream()
        .flatMap(file -> withoutGenerated(Documents.lines(file)).stream());
  }

  private static List<Line> withoutGenerated(List<Line> lines) {
    List<Line> kept = new ArrayList<>();
    boolean isGenerated = false;
    for (Line line : lines) {
      isGenerated |= line.text().startsWith("<!-- begin of");
      if (!isGenerated) {
        kept.add(line);
      }
      isGenerated &= !line.text().startsWith("<!-- end of");
    }
    return kept;
  }
}
