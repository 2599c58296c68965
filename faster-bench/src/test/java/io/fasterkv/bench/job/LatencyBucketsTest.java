package io.fasterkv.bench.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyBucketsTest {
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2047, 2048, 2049, 4095, 4096, 1_000_001, LatencyBuckets.MOST})
  void aBucketIsNarrow(long micros) {
    int bucket = LatencyBuckets.of(micros);
    assertThat(bucket).isBetween(0, LatencyBuckets.COUNT - 1);
    assertThat(LatencyBuckets.lowest(bucket)).isBetween(micros - micros / 1_000, micros);
    assertThat(LatencyBuckets.of(LatencyBuckets.lowest(bucket))).isEqualTo(bucket);
    assertThat(LatencyBuckets.of(LatencyBuckets.lowest(bucket) - 1))
        .isEqualTo(Math.max(0, bucket - 1));
  }

  @ParameterizedTest
  @ValueSource(longs = {LatencyBuckets.MOST + 1, Long.MAX_VALUE})
  void theLastBucketHasAllThatIsHigher(long micros) {
    assertThat(LatencyBuckets.of(micros)).isEqualTo(LatencyBuckets.COUNT - 1);
  }
}
