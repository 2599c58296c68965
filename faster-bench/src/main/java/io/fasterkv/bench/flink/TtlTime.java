package io.fasterkv.bench.flink;

import java.time.Duration;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Time that stands still, and a time to live that is never over. */
final class TtlTime {
  static final StateTtlConfig CONFIG = StateTtlConfig.newBuilder(Duration.ofHours(1)).build();
  static final TtlTimeProvider STANDING = () -> 1_000_000L;

  private TtlTime() {}
}
