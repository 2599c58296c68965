package io.fasterkv.cluster.job;

import java.io.Serializable;

/**
 * What the job counts: the numbers from 0 on, by their remainders.
 *
 * @param numbers how many; a multiple of {@code keys}
 * @param keys how many remainders
 * @param perSecond numbers that each reader gives in a second, after a burst, until the gate is
 *     open
 * @param gate a file; when it is there the gate is open, and the job runs to its end
 * @param results a directory
 */
public record CountingPlan(long numbers, long keys, int perSecond, String gate, String results)
    implements Serializable {

  /** How often each remainder occurs. */
  long count() {
    return numbers / keys;
  }

  /** The sum of all numbers with a remainder. */
  long sum(long key) {
    return count() * key + keys * (count() * (count() - 1) / 2);
  }

  /** What the job says in the end of a remainder, if no number was lost and none counted twice. */
  public String fact(long key) {
    return fact(key, count(), sum(key), true);
  }

  static String fact(long key, long count, long sum, boolean isWhole) {
    return "key=" + key + " count=" + count + " sum=" + sum + " whole=" + isWhole;
  }
}
