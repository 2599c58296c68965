package io.fasterkv.demo.check;

import io.fasterkv.demo.example.WordSummary;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The words that occur most often. */
public final class TopWords {
  private TopWords() {}

  /**
   * Writes a table.
   *
   * @param most how many words at most, 0 or more
   */
  public static List<String> lines(Collection<WordSummary> words, int most) {
    List<WordSummary> top =
        words.stream()
            .sorted(
                Comparator.comparingLong(WordSummary::count)
                    .reversed()
                    .thenComparing(WordSummary::text))
            .limit(most)
            .toList();
    List<String> lines = new ArrayList<>();
    lines.add(line("", "word", "count", "files", "busiest window", "mean position"));
    for (int i = 0; i < top.size(); i++) {
      WordSummary word = top.get(i);
      lines.add(
          line(
              i + 1,
              word.text(),
              String.format(Locale.ROOT, "%,d", word.count()),
              String.format(Locale.ROOT, "%,d", word.files().size()),
              String.format(Locale.ROOT, "%,d", word.windows().busiest()),
              String.format(Locale.ROOT, "%,.1f", word.positions().mean())));
    }
    return lines;
  }

  private static String line(Object... cells) {
    return String.format(Locale.ROOT, "%4s  %-16s %10s %8s %14s %14s", cells).stripTrailing();
  }
}
