package io.fasterkv.flink.jobs;

import io.fasterkv.flink.FasterStateBackendFactory;
import io.fasterkv.flink.config.FasterOptions;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that many operators share the memory of a slot, before and after failures. */
class ManyOperatorsTest {
  private static final int OPERATORS = 100;
  private static final MemorySize OF_A_SLOT = MemorySize.ofMebiBytes(128);

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(
                  new Configuration()
                      .set(TaskManagerOptions.MANAGED_MEMORY_SIZE, OF_A_SLOT.multiply(2)))
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir private Path directory;

  /** Checks at the end how many numbers each key has had. */
  private static final class Counted extends CountOfKey {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
      context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
      super.processElement(number, context, out);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Long> out)
        throws Exception {
      long key = context.getCurrentKey();
      long expected = KeyedSums.count(FailingJob.NUMBERS, key);
      if (count() != expected) {
        throw new AssertionError("key " + key + ": " + count() + " of " + expected);
      }
    }
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHundredOperatorsShare128Megabytes(boolean areChained) throws Exception {
    Configuration config =
        JobSettings.INCREMENTAL
            .config(directory)
            .set(StateBackendOptions.STATE_BACKEND, FasterStateBackendFactory.class.getName());
    config.removeConfig(FasterOptions.FIXED_MEMORY);
    config.set(FasterOptions.OPERATORS, OPERATORS);
    // Otherwise each is a task of its own, and the tasks open their stores at the same time.
    config.set(PipelineOptions.OPERATOR_CHAINING, areChained);
    FailingJob.check(
        config,
        KeyedSums.expected(FailingJob.NUMBERS),
        env -> {
          DataStream<Long> numbers = FailingJob.numbers(env, "numbers");
          KeyedStream<Long, Long> keyed = numbers.keyBy(KeyedSums::key);
          for (int i = 1; i < OPERATORS; i++) {
            keyed =
                DataStreamUtils.reinterpretAsKeyedStream(
                    keyed.process(new Counted()), KeyedSums::key);
          }
          return keyed.process(new KeyedSums());
        });
  }
}
