package io.fasterkv.demo;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.flink.config.FasterOptions;
import org.apache.flink.configuration.MemorySize;

/** The minimum memory with which a backend starts. */
final class MemoryNeed {
  /** The windows and the words have keyed state: two stores in each slot. */
  private static final int STORES_IN_A_SLOT = 2;

  private MemoryNeed() {}

  /**
   * Checks the budget before anything is started.
   *
   * @throws UsageException if the stores of one slot could not all start
   */
  static void check(DemoOptions options) throws UsageException {
    if (options.backend.backend() != Backend.FASTER) {
      return;
    }
    int slots = Math.max(options.parallelism, options.resumeParallelism);
    MemorySize least =
        FasterOptions.MINIMUM_MEMORY.defaultValue().multiply(STORES_IN_A_SLOT * (double) slots);
    if (options.memory.compareTo(least) < 0) {
      throw new UsageException(
          "there is too little memory for "
              + STORES_IN_A_SLOT
              + " stores in each of "
              + slots
              + " slots: --memory="
              + options.memory.toHumanReadableString()
              + ", allowed="
              + least.toHumanReadableString()
              + " or more");
    }
  }
}
