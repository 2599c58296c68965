package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that reducing and aggregating state is updated in place as long as it does not grow. */
class InPlaceUpdatesTest {
  private static final int ADDS = 1_000;

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "TINY"})
  void aSumNeedsNoMoreOfTheLogThanItsFirstSummand(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ReducingState<Long> sum =
          ModelStates.state(
              backend, new ReducingStateDescriptor<>("sum", Long::sum, LongSerializer.INSTANCE));
      assertThat(growth(backend, sum)).isZero();
      assertThat(sum.get()).isEqualTo(ADDS);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "TINY"})
  void aMeanNeedsNoMoreOfTheLogThanItsFirstNumber(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      AggregatingState<Long, Double> mean =
          ModelStates.state(
              backend,
              new AggregatingStateDescriptor<>(
                  "mean", new Mean(), LongPrimitiveArraySerializer.INSTANCE));
      assertThat(growth(backend, mean)).isZero();
      assertThat(mean.get()).isEqualTo(1.0);
    }
  }

  /**
   * A result that grows is copied. This shows that the log would reveal copies in the other tests.
   */
  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "TINY"})
  void aTextThatGrowsNeedsMore(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ReducingState<String> text =
          ModelStates.state(
              backend,
              new ReducingStateDescriptor<>("text", String::concat, StringSerializer.INSTANCE));
      backend.setCurrentKey(1);
      text.add("a");
      long before = backend.store().statistics().logBytes();
      for (int i = 1; i < ADDS; i++) {
        text.add("a");
      }
      assertThat(text.get()).isEqualTo("a".repeat(ADDS));
      assertThat(backend.store().statistics().logBytes() - before).isGreaterThan(ADDS);
    }
  }

  /** Growth of the log from the first addition to the last. */
  private static long growth(
      FasterKeyedStateBackend<Integer> backend, AppendingState<Long, ?> state) throws Exception {
    backend.setCurrentKey(1);
    state.add(1L);
    long before = backend.store().statistics().logBytes();
    for (int i = 1; i < ADDS; i++) {
      state.add(1L);
    }
    assertThat(before).isPositive();
    return backend.store().statistics().logBytes() - before;
  }

  /** Keeps the sum and the count of the added numbers. */
  private static final class Mean implements AggregateFunction<Long, long[], Double> {
    private static final long serialVersionUID = 1L;

    @Override
    public long[] createAccumulator() {
      return new long[2];
    }

    @Override
    public long[] add(Long value, long[] sums) {
      return new long[] {sums[0] + value, sums[1] + 1};
    }

    @Override
    public Double getResult(long[] sums) {
      return (double) sums[0] / sums[1];
    }

    @Override
    public long[] merge(long[] one, long[] other) {
      return new long[] {one[0] + other[0], one[1] + other[1]};
    }
  }
}
