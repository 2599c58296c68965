package io.fasterkv.bench.start;

import io.fasterkv.bench.workload.WrongAnswer;
import java.util.List;

/** What a subject does in its first second, in order. */
interface Steps extends AutoCloseable {
  /** A step with a name. */
  record Step(String name, Body body) {}

  /** What is measured. */
  @FunctionalInterface
  interface Body {
    void run() throws Exception;
  }

  /** All steps. */
  List<Step> all();

  @Override
  void close() throws Exception;

  /** Checks that each key has been incremented so often. */
  static void check(long sum, long calls, int passes) {
    if (sum != calls * passes) {
      throw new WrongAnswer(
          "counts do not add up to the operations: sum=" + sum + ", expected=" + calls * passes);
    }
  }
}
