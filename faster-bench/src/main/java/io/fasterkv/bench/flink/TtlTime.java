package io.fasterkv.bench.flink;

import java.time.Duration;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** A clock that stands still, and a time to live that never ends. */
final class TtlTime {
  static final StateTtlConfig CONFIG = StateTtlConfig.newBuilder(Duration.ofHours(1)).build();
  static final TtlTimeProvider STANDING = () -> 1_000_000L;

  private TtlTime() {}
}
