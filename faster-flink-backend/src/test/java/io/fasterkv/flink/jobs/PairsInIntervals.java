package io.fasterkv.flink.jobs;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.util.Collector;

/** Joins numbers of one key from two streams that are close in time. */
final class PairsInIntervals extends ProcessJoinFunction<Long, Long, String> {
  static final long DISTANCE = 60;
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 50;

  static long key(long number) {
    return number % KEYS;
  }

  static List<String> expected(long numbers) {
    List<String> facts = new ArrayList<>();
    for (long left = 0; left < numbers; left++) {
      for (long right = key(left); right < numbers; right += KEYS) {
        if (Math.abs(Times.of(left) - Times.of(right)) <= DISTANCE) {
          facts.add(fact(left, right));
        }
      }
    }
    return facts;
  }

  private static String fact(long left, long right) {
    return "pair " + left + " " + right;
  }

  @Override
  public void processElement(Long left, Long right, Context context, Collector<String> out) {
    out.collect(fact(left, right));
  }
}
