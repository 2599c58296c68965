package io.fasterkv.bench.report;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

/** A plot with groups of bars, one group for each category. */
public final class BarPlot {
  private final CategoryChart chart;
  private final List<String> categories;

  /** A plot without bars, with these groups. */
  public BarPlot(String title, String xTitle, String yTitle, List<String> categories) {
    this.categories = List.copyOf(categories);
    chart =
        new CategoryChartBuilder()
            .width(Plots.WIDTH)
            .height(Plots.HEIGHT)
            .title(title)
            .xAxisTitle(xTitle)
            .yAxisTitle(yTitle)
            .build();
    chart.getStyler().setLegendPosition(LegendPosition.InsideNW);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
  }

  /** Adds a bar to each group. */
  public void add(String name, List<Double> heights) {
    chart.addSeries(name, categories, new ArrayList<>(heights));
  }

  /** Writes it as a PNG. */
  public void write(Path file) throws IOException {
    Plots.write(chart, file);
  }
}
