package io.fasterkv.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.StringReader;
import java.util.List;
import java.util.OptionalDouble;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class HtmlPageTest {
  private static HtmlPage page() {
    HtmlPage page = new HtmlPage("a & b");
    page.section("one <two>");
    TextTable table = new TextTable("job", "figure");
    table.add("q1", "3.5");
    page.table(table);
    SvgBars bars = new SvgBars("bars", List.of("q1", "q2"));
    bars.add("faster", List.of(OptionalDouble.of(2), OptionalDouble.empty()));
    bars.add("rocksdb", List.of(OptionalDouble.of(1), OptionalDouble.of(37)));
    page.plot(bars);
    SvgLines lines = new SvgLines("lines", "seconds");
    lines.add("faster", List.of(new SvgLines.Point(0, 0), new SvgLines.Point(10, 4)));
    page.plot(lines);
    return page;
  }

  @Test
  void thePageIsWellFormedAndLoadsNothing() throws Exception {
    String text = page().toString();
    String xml = text.replace("<meta charset='utf-8'>", "").replaceFirst("<!DOCTYPE html>\n", "");
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
    assertThat(text).doesNotContain("http", "src=", "<script", "url(");
    assertThat(text).contains("a &amp; b", "one &lt;two&gt;", "<td>3.5</td>");
  }

  @Test
  void aBarHasItsHeightAndItsFigure() {
    String text = page().toString();
    assertThat(text).contains("q2, rocksdb: 37").doesNotContain("q2, faster");
    assertThat(text).contains("height='%.1f'".formatted(37 / 40.0 * Svg.PLOT_HEIGHT));
  }

  @Test
  void aSeriesNeedsAHeightForEachCategory() {
    SvgBars bars = new SvgBars("bars", List.of("q1", "q2"));
    assertThatThrownBy(() -> bars.add("faster", List.of(OptionalDouble.empty())))
        .hasMessageContaining("heights=1, allowed=2");
  }
}
