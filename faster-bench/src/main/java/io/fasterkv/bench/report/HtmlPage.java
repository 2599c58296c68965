package io.fasterkv.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page that is one file: it loads nothing, and has no script. */
public final class HtmlPage {
  private static final String STYLE =
      """
      body { font: 15px/1.5 sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; }
      table { border-collapse: collapse; font-size: 13px; margin: 1em 0; }
      th, td { padding: 2px 8px; border-bottom: 1px solid #ddd; text-align: right; }
      th:first-child, td:first-child { text-align: left; }
      tr:hover { background: #f4f4f4; }
      figure, .wide { overflow-x: auto; margin: 1em 0; }
      svg { font: 11px sans-serif; }
      .grid { stroke: #ddd; }
      .axis { stroke: #333; }
      """;

  private final String title;
  private final StringBuilder body = new StringBuilder();

  /** A page without contents. */
  public HtmlPage(String title) {
    this.title = title;
  }

  /** Adds a heading. */
  public void section(String heading) {
    add("h2", heading);
  }

  /** Adds a paragraph. */
  public void text(String words) {
    add("p", words);
  }

  private void add(String element, String words) {
    body.append('<').append(element).append('>').append(Svg.escape(words));
    body.append("</").append(element).append(">\n");
  }

  /** Adds a table. */
  public void table(TextTable table) {
    body.append("<div class='wide'><table>\n");
    row("th", table.header());
    table.rows().forEach(cells -> row("td", cells));
    body.append("</table></div>\n");
  }

  private void row(String element, Iterable<String> cells) {
    body.append("<tr>");
    for (String cell : cells) {
      body.append('<').append(element).append('>').append(Svg.escape(cell));
      body.append("</").append(element).append('>');
    }
    body.append("</tr>\n");
  }

  /** Adds a plot. */
  public void plot(SvgBars bars) {
    body.append("<figure>").append(bars).append("</figure>\n");
  }

  /** Adds a plot. */
  public void plot(SvgLines lines) {
    body.append("<figure>").append(lines).append("</figure>\n");
  }

  /** Writes it; makes the directory when it is missing. */
  public void write(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    Files.writeString(file, toString());
  }

  @Override
  public String toString() {
    String escaped = Svg.escape(title);
    return "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>"
        + escaped
        + "</title>\n<style>\n"
        + STYLE
        + "</style></head><body>\n<h1>"
        + escaped
        + "</h1>\n"
        + body
        + "</body></html>\n";
  }
}
