package io.fasterkv.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Groups of bars for a page: a group for each category, a bar for each series. */
public final class SvgBars {
  private static final int BAR = 14;
  private static final int GAP = 16;
  private static final int LEAST_WIDTH = 440;

  private final String name;
  private final List<String> categories;
  private final List<String> series = new ArrayList<>();
  private final List<List<OptionalDouble>> heights = new ArrayList<>();

  /** A plot without bars, with these groups. */
  public SvgBars(String name, List<String> categories) {
    this.name = name;
    this.categories = List.copyOf(categories);
  }

  /** Adds a bar to each group that has a height. */
  public void add(String ofSeries, List<OptionalDouble> ofCategories) {
    if (ofCategories.size() != categories.size()) {
      throw new IllegalArgumentException(
          "a series does not fit its plot: heights="
              + ofCategories.size()
              + ", allowed="
              + categories.size());
    }
    series.add(ofSeries);
    heights.add(List.copyOf(ofCategories));
  }

  /** The element. */
  @Override
  public String toString() {
    double highest =
        heights.stream()
            .flatMap(List::stream)
            .mapToDouble(height -> height.orElse(0))
            .max()
            .orElse(0);
    int group = series.size() * BAR + GAP;
    Svg svg = new Svg(name, Math.max(LEAST_WIDTH, categories.size() * group), highest);
    svg.legend(series);
    for (int category = 0; category < categories.size(); category++) {
      int x = Svg.LEFT + category * group + GAP / 2;
      for (int i = 0; i < series.size(); i++) {
        bar(svg, x + i * BAR, category, i);
      }
      svg.slanted(x + series.size() * BAR / 2.0, categories.get(category));
    }
    return svg.end();
  }

  private void bar(Svg svg, int x, int category, int i) {
    OptionalDouble height = heights.get(i).get(category);
    if (height.isPresent()) {
      double y = svg.y(height.getAsDouble());
      svg.format(
          "<rect x='%d' y='%.1f' width='%d' height='%.1f' fill='%s'><title>%s, %s: %s</title>"
              + "</rect>%n",
          x,
          y,
          BAR - 2,
          Svg.BOTTOM - y,
          Svg.color(i),
          Svg.escape(categories.get(category)),
          Svg.escape(series.get(i)),
          Svg.number(height.getAsDouble()));
    }
  }
}
