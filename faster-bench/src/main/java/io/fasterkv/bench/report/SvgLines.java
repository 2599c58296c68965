package io.fasterkv.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines over one axis, for a page. */
public final class SvgLines {
  private static final int WIDTH = 640;
  private static final int TICKS = 8;

  private final String name;
  private final String unit;
  private final List<Line> lines = new ArrayList<>();

  private record Line(String name, List<Point> points) {}

  /** A point of a line. */
  public record Point(double x, double y) {}

  /**
   * A plot without lines.
   *
   * @param unit of the axis
   */
  public SvgLines(String name, String unit) {
    this.name = name;
    this.unit = unit;
  }

  /** Adds a line. */
  public void add(String ofLine, List<Point> points) {
    lines.add(new Line(ofLine, List.copyOf(points)));
  }

  /** The element. */
  @Override
  public String toString() {
    List<Point> all = lines.stream().flatMap(line -> line.points.stream()).toList();
    double right = all.stream().mapToDouble(Point::x).max().orElse(0);
    Svg svg = new Svg(name, WIDTH, all.stream().mapToDouble(Point::y).max().orElse(0));
    svg.legend(lines.stream().map(Line::name).toList());
    for (int i = 0; i < lines.size(); i++) {
      StringBuilder path = new StringBuilder();
      for (Point point : lines.get(i).points) {
        path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(point.x, right), svg.y(point.y)));
      }
      svg.format(
          "<polyline points='%s' fill='none' stroke='%s' stroke-width='1.5'/>%n",
          path.toString().strip(), Svg.color(i));
    }
    for (int tick = 0; tick <= TICKS && right > 0; tick++) {
      double value = right * tick / TICKS;
      svg.text(
          x(value, right), Svg.BOTTOM + 18, "middle", String.format(Locale.ROOT, "%.1f", value));
    }
    svg.text(Svg.LEFT + WIDTH / 2.0, Svg.BOTTOM + 38, "middle", unit);
    return svg.end();
  }

  private static double x(double value, double right) {
    return Svg.LEFT + (right == 0 ? 0 : value / right * WIDTH);
  }
}
