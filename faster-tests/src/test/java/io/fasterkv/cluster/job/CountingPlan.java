package io.fasterkv.cluster.job;

import java.io.Serializable;

/**
 * The input of the job: the numbers from 0 up, which it counts by their remainders.
 *
 * @param numbers how many numbers; a multiple of {@code keys}
 * @param keys how many remainders
 * @param perSecond numbers a second that each reader emits after a burst, until the gate is open
 * @param pauseMicros how long a task pauses for each number until the gate is open
 * @param gate a file; once it exists, the gate is open and the job runs to its end
 * @param results a directory for the results
 */
public record CountingPlan(
    long numbers, long keys, int perSecond, int pauseMicros, String gate, String results)
    implements Serializable {

  /** Number of occurrences of each remainder. */
  long count() {
    return numbers / keys;
  }

  /** The sum of all numbers with a remainder. */
  long sum(long key) {
    return count() * key + keys * (count() * (count() - 1) / 2);
  }

  /** The job's final line for a remainder if it has counted each number {@code times} times. */
  public String fact(long key, int times) {
    return fact(key, times * count(), times * sum(key), true);
  }

  /** The job's line for a remainder. */
  public static String fact(long key, long count, long sum, boolean isWhole) {
    return "key=" + key + " count=" + count + " sum=" + sum + " whole=" + isWhole;
  }
}
