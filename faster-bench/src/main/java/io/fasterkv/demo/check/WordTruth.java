package io.fasterkv.demo.check;

import io.fasterkv.demo.example.WindowTotals;
import io.fasterkv.demo.example.WordStates;
import io.fasterkv.demo.example.WordSummary.Positions;
import io.fasterkv.demo.text.TextRange;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The correct results for one word. */
public final class WordTruth {
  private static final int COUNT = 0;

  /** By range: the count there, then the first positions. */
  private final Map<TextRange, int[]> byRange = new HashMap<>();

  private long count;
  private long positions;
  private int furthest;
  private long window = -1;
  private long inWindow;
  private WindowTotals windows = WindowTotals.NONE;

  /** Adds an occurrence; occurrences are in the order of the plan. */
  void add(TextRange range, int position, long inWindowNumber) {
    if (inWindowNumber != window) {
      closeWindow();
      window = inWindowNumber;
    }
    inWindow++;
    count++;
    positions += position;
    furthest = Math.max(furthest, position);
    int[] entry = byRange.get(range);
    int before = entry == null ? 0 : entry[COUNT];
    if (entry == null || before < WordStates.FIRST_OCCURRENCES) {
      int[] longer = entry == null ? new int[2] : Arrays.copyOf(entry, before + 2);
      longer[before + 1] = position;
      byRange.put(range, longer);
      entry = longer;
    }
    entry[COUNT] = before + 1;
  }

  private void closeWindow() {
    if (inWindow > 0) {
      windows = windows.plus(inWindow);
      inWindow = 0;
    }
  }

  /** Returns how often the word occurs, 1 or more. */
  public long count() {
    return count;
  }

  Map<String, Integer> files() {
    Map<String, Integer> files = new HashMap<>();
    byRange.forEach((range, entry) -> files.merge(range.file(), entry[COUNT], Integer::sum));
    return files;
  }

  WindowTotals windows() {
    closeWindow();
    return windows;
  }

  Positions positions() {
    return new Positions(furthest, (double) positions / count);
  }

  /** Returns the position of the {@code n}th occurrence in a range, from 0, or -1 if none. */
  int positionIn(TextRange range, int n) {
    int[] entry = byRange.get(range);
    return entry == null || n + 1 >= entry.length ? -1 : entry[n + 1];
  }
}
