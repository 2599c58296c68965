package io.fasterkv.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.AnnotationLine;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A plot of several lines over one axis, with marked moments; written as a picture and as data. */
public final class LinePlot {
  private static final float MARK_WIDTH = 1;
  private static final float MARK_DASH = 4;

  private final String title;
  private final String xTitle;
  private final String yTitle;
  private final List<Line> lines = new ArrayList<>();
  private final List<Double> marks = new ArrayList<>();

  private record Line(String name, List<Double> x, List<Double> y) {}

  /** A plot without lines. */
  public LinePlot(String title, String xTitle, String yTitle) {
    this.title = title;
    this.xTitle = xTitle;
    this.yTitle = yTitle;
  }

  /** Adds a line through as many points as there are of both. */
  public void add(String name, List<Double> x, List<Double> y) {
    if (x.size() != y.size() || x.isEmpty()) {
      throw new IllegalArgumentException(
          "a line needs as many x as y, and one at least: x=" + x.size() + ", y=" + y.size());
    }
    lines.add(new Line(name, List.copyOf(x), List.copyOf(y)));
  }

  /** Marks a moment by a vertical line. */
  public void mark(double x) {
    marks.add(x);
  }

  /** Writes {@code name.csv}, and then {@code name.png}. */
  public void write(Path directory, String name) throws IOException {
    Csv csv = new Csv("series", xTitle, yTitle);
    for (Line line : lines) {
      for (int i = 0; i < line.x.size(); i++) {
        csv.add(line.name, line.x.get(i), line.y.get(i));
      }
    }
    csv.write(directory.resolve(name + ".csv"));
    Plots.write(chart(), directory.resolve(name + ".png"));
  }

  private XYChart chart() {
    XYChart chart = Plots.lines(title, xTitle, yTitle).build();
    XYStyler styler = chart.getStyler();
    styler.setLegendPosition(LegendPosition.OutsideE);
    styler.setYAxisMin(0.0);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setAnnotationLineColor(Color.GRAY);
    styler.setAnnotationLineStroke(
        new BasicStroke(
            MARK_WIDTH,
            BasicStroke.CAP_BUTT,
            BasicStroke.JOIN_BEVEL,
            1,
            new float[] {MARK_DASH, MARK_DASH},
            0));
    for (Line line : lines) {
      chart.addSeries(line.name, line.x, line.y).setMarker(SeriesMarkers.NONE);
    }
    for (double mark : marks) {
      chart.addAnnotation(new AnnotationLine(mark, true, false));
    }
    return chart;
  }
}
