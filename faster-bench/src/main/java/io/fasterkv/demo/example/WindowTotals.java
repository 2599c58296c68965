package io.fasterkv.demo.example;

/**
 * The totals of one word's windows.
 *
 * @param words the counts of all its windows together, 0 or more
 * @param windows how many windows it occurs in, 0 or more
 * @param busiest the highest count of one window, 0 or more
 */
public record WindowTotals(long words, int windows, long busiest) {
  /** No window yet. */
  public static final WindowTotals NONE = new WindowTotals(0, 0, 0);

  /** Returns these totals with one more window, in which the word occurs {@code count} times. */
  public WindowTotals plus(long count) {
    return new WindowTotals(words + count, windows + 1, Math.max(busiest, count));
  }
}
