package io.fasterkv.bench.demo.job;

import java.util.List;
import java.util.Map;

/**
 * All that the keyed state knows of one word when the input has ended.
 *
 * @param text the word
 * @param count how often it occurs
 * @param files how often it occurs in each file
 * @param first the first occurrences that arrived, in the order in which they arrived
 * @param windows the windows it occurs in
 * @param positions where in their files the occurrences stand
 */
public record WordSummary(
    String text,
    long count,
    Map<String, Integer> files,
    List<Occurrence> first,
    WindowTotals windows,
    Positions positions) {

  /**
   * Positions in files, counted in words.
   *
   * @param furthest the highest, 0 or more
   * @param mean the average, 0 or more
   */
  public record Positions(int furthest, double mean) {}
}
