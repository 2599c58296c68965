package io.fasterkv.demo.check;

import io.fasterkv.demo.example.Occurrence;
import io.fasterkv.demo.example.WordStates;
import io.fasterkv.demo.example.WordSummary;
import io.fasterkv.demo.text.InputPlan;
import io.fasterkv.demo.text.TextRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Compares the job's results with the truth, word by word and state by state. */
public final class Comparison {
  /** Maximum number of differences that are listed; the others are only counted. */
  public static final int LISTED = 20;

  private final List<Difference> listed = new ArrayList<>();
  private final InputPlan.RangeFinder ranges;
  private long total;

  private Comparison(InputPlan plan) {
    this.ranges = plan.finder();
  }

  /** Compares every word of both sides. */
  public static Comparison of(Truth truth, Map<String, WordSummary> results) {
    Comparison comparison = new Comparison(truth.plan());
    truth.byWord().forEach((word, expected) -> comparison.compare(word, expected, results));
    results.forEach((word, surplus) -> {
      if (!truth.byWord().containsKey(word)) {
        comparison.add(word, "count", 0, surplus.count());
      }
    });
    return comparison;
  }

  /** Returns the first differences, {@value #LISTED} at most. */
  public List<Difference> listed() {
    return listed;
  }

  /** Returns how many differences there are in all, 0 or more. */
  public long total() {
    return total;
  }

  private void compare(String word, WordTruth truth, Map<String, WordSummary> results) {
    WordSummary actual = results.get(word);
    if (actual == null) {
      add(word, "count", truth.count(), "no result");
      return;
    }
    check(word, "count", truth.count(), actual.count());
    check(word, "windows", truth.windows(), actual.windows());
    check(word, "positions", truth.positions(), actual.positions());
    compareFiles(word, truth.files(), actual.files());
    compareFirst(word, truth, actual.first());
  }

  private void compareFiles(
      String word, Map<String, Integer> expected, Map<String, Integer> actual) {
    if (expected.equals(actual)) {
      return;
    }
    Set<String> names = new TreeSet<>(expected.keySet());
    names.addAll(actual.keySet());
    Map<String, Integer> missing = new TreeMap<>(expected);
    Map<String, Integer> surplus = new TreeMap<>(actual);
    for (String name : names) {
      if (Objects.equals(expected.get(name), actual.get(name))) {
        missing.remove(name);
        surplus.remove(name);
      }
    }
    add(word, "files", shortened(missing), shortened(surplus));
  }

  /**
   * Compares the first occurrences. The list has those that arrived first, which depends on the
   * speed of the readers. But one range is read in order: the listed occurrences of a range must be
   * its first ones, in order.
   */
  private void compareFirst(String word, WordTruth truth, List<Occurrence> actual) {
    long size = Math.min(WordStates.FIRST_OCCURRENCES, truth.count());
    check(word, "number of first occurrences", size, (long) actual.size());
    Map<TextRange, Integer> seen = new HashMap<>();
    for (Occurrence occurrence : actual) {
      TextRange range = ranges.find(occurrence.file(), occurrence.position());
      int n = range == null ? 0 : seen.merge(range, 1, Integer::sum) - 1;
      int expected = range == null ? -1 : truth.positionIn(range, n);
      if (expected != occurrence.position()) {
        // The first difference is enough: it shifts all that follow.
        String place = expected < 0 ? "no further one there" : "position " + expected;
        add(word, "first occurrences", place, occurrence);
        return;
      }
    }
  }

  private void check(String word, String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      add(word, what, expected, actual);
    }
  }

  private void add(String word, String what, Object expected, Object actual) {
    total++;
    if (listed.size() < LISTED) {
      listed.add(new Difference(word, what, expected.toString(), actual.toString()));
    }
  }

  private static String shortened(Map<String, Integer> files) {
    int most = 3;
    if (files.size() <= most) {
      return files.toString();
    }
    Map<String, Integer> some = new TreeMap<>();
    files.entrySet().stream().limit(most).forEach(e -> some.put(e.getKey(), e.getValue()));
    return some + " and " + (files.size() - most) + " more";
  }
}
