package io.fasterkv.bench.report;

import java.util.List;
import java.util.Locale;

/** The parts of plots in a page: an axis, a legend, text. Needs no fonts on this machine. */
final class Svg {
  static final int LEFT = 70;
  static final int TOP = 34;
  static final int PLOT_HEIGHT = 220;
  static final int BOTTOM = TOP + PLOT_HEIGHT;
  private static final int TICKS = 4;
  private static final double[] STEPS = {1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8};
  private static final int LEGEND_STEP = 110;
  private static final List<String> COLORS =
      List.of("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b");

  private final StringBuilder text = new StringBuilder();
  private final int width;
  private final double top;

  /**
   * @param name of the plot
   * @param width of the space for data, in pixels
   * @param highest value
   */
  Svg(String name, int width, double highest) {
    this.width = width;
    top = roundUp(highest);
    int all = LEFT + width + 20;
    format(
        "<svg viewBox='0 0 %d %d' width='%d' height='%d' role='img'><title>%s</title>%n",
        all, BOTTOM + 80, all, BOTTOM + 80, escape(name));
    for (int tick = 0; tick <= TICKS; tick++) {
      double value = top * tick / TICKS;
      double y = y(value);
      format(
          "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' class='grid'/>%n", LEFT, LEFT + width, y, y);
      text(LEFT - 6, y + 4, "end", number(value));
    }
  }

  static String color(int series) {
    return COLORS.get(series % COLORS.size());
  }

  /** Names the series above the plot. */
  void legend(List<String> names) {
    for (int i = 0; i < names.size(); i++) {
      int x = LEFT + i * LEGEND_STEP;
      format("<rect x='%d' y='10' width='12' height='12' fill='%s'/>%n", x, color(i));
      text(x + 17, 20, "start", names.get(i));
    }
  }

  /** The height of a value. */
  double y(double value) {
    return BOTTOM - (top == 0 ? 0 : value / top * PLOT_HEIGHT);
  }

  void text(double x, double y, String anchor, String words) {
    format("<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>%n", x, y, anchor, escape(words));
  }

  /** Text that rises to a place below the axis. */
  void slanted(double x, String words) {
    format(
        "<text transform='translate(%.1f %d) rotate(-30)' text-anchor='end'>%s</text>%n",
        x, BOTTOM + 16, escape(words));
  }

  void format(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values));
  }

  /** The whole element. */
  String end() {
    format(
        "<line x1='%d' x2='%d' y1='%d' y2='%d' class='axis'/>%n",
        LEFT, LEFT + width, BOTTOM, BOTTOM);
    return text + "</svg>" + System.lineSeparator();
  }

  /** The next round number that is not below a value. */
  private static double roundUp(double value) {
    if (!(value > 0)) {
      return 1;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(value)));
    for (double step : STEPS) {
      if (value <= step * unit * (1 + 1e-9)) {
        return step * unit;
      }
    }
    return 10 * unit;
  }

  /** A number with at most three digits after the point. */
  static String number(double value) {
    return value >= 1000
        ? Sizes.count(value)
        : String.format(Locale.ROOT, "%.3f", value).replaceAll("\\.?0+$", "");
  }

  /** Text for a page. */
  static String escape(String words) {
    return words
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("'", "&#39;");
  }
}
