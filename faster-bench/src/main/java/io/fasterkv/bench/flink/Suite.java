package io.fasterkv.bench.flink;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.StateTtlConfig;

/**
 * States that are measured together on backends of their own, named as in Flink's benchmarks. A
 * list of a hundred elements takes fifteen times as long as other operations of its benchmark, so
 * it has a tenth of the keys.
 */
enum Suite {
  VALUE("ValueStateBenchmark", 64),
  LIST("ListStateBenchmark", 64),
  LONG_LIST("ListStateBenchmark", 960),
  MAP("MapStateBenchmark", 300),
  TTL_VALUE("TtlValueStateBenchmark", 72),
  TTL_LIST("TtlListStateBenchmark", 72),
  TTL_LONG_LIST("TtlListStateBenchmark", 1800),
  TTL_MAP("TtlMapStateBenchmark", 380);

  private final String benchmark;
  private final int bytesPerKey;

  Suite(String benchmark, int bytesPerKey) {
    this.benchmark = benchmark;
    this.bytesPerKey = bytesPerKey;
  }

  /** The class in Flink's repository of benchmarks. */
  String benchmark() {
    return benchmark;
  }

  /** Approximate size of a set-up key's state as log records at the end of a slice. */
  int bytesPerKey() {
    return bytesPerKey;
  }

  boolean hasTtl() {
    return ordinal() >= TTL_VALUE.ordinal();
  }

  /** Its loops over a backend. */
  StateLoops loops(StateData data, OpenBackend<Long> backend) throws Exception {
    StateTtlConfig ttl = hasTtl() ? TtlTime.CONFIG : StateTtlConfig.DISABLED;
    return switch (this) {
      case VALUE, TTL_VALUE -> new ValueLoops(data, backend, ttl);
      case LIST, LONG_LIST, TTL_LIST, TTL_LONG_LIST -> new ListLoops(data, backend, ttl);
      case MAP, TTL_MAP -> new MapLoops(data, backend, ttl);
    };
  }

  /** Its name in {@code --suites}. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  List<StateRow> rows() {
    return Arrays.stream(StateRow.values()).filter(row -> row.isOf(this)).toList();
  }
}
