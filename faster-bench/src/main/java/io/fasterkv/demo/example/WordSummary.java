package io.fasterkv.demo.example;

import java.util.List;
import java.util.Map;

/**
 * Everything that the keyed state knows about one word at the end of the input.
 *
 * @param text the word
 * @param count how often it occurs
 * @param files how often it occurs in each file
 * @param first the first occurrences that arrived, in the order of arrival
 * @param windows the windows it occurs in
 * @param positions positions of the occurrences in their files
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
