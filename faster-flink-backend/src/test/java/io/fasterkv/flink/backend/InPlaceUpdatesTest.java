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

/** What is reduced and aggregated is changed where it lies, as long as it does not get longer. */
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

  /** A result that gets longer does: the log would show it if the others were copied. */
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
      long before = backend.store().logBytes();
      for (int i = 1; i < ADDS; i++) {
        text.add("a");
      }
      assertThat(text.get()).isEqualTo("a".repeat(ADDS));
      assertThat(backend.store().logBytes() - before).isGreaterThan(ADDS);
    }
  }

  /** By how much the log is longer after all additions than after the first. */
  private static long growth(
      FasterKeyedStateBackend<Integer> backend, AppendingState<Long, ?> state) throws Exception {
    backend.setCurrentKey(1);
    state.add(1L);
    long before = backend.store().logBytes();
    for (int i = 1; i < ADDS; i++) {
      state.add(1L);
    }
    assertThat(before).isPositive();
    return backend.store().logBytes() - before;
  }

  /** Keeps the sum and the number of what was added. */
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
