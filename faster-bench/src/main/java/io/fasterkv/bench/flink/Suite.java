package io.fasterkv.bench.flink;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.StateTtlConfig;

/**
 * States that are measured together on backends of their own, named as Flink's benchmarks are. A
 * list of a hundred elements takes fifteen times what others of its benchmark take, and a tenth of
 * it is as much more memory.
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

  /** About what the state of a set-up key takes as records of a log, at the end of a slice. */
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

  /** How {@code --suites} names it. */
  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  List<StateRow> rows() {
    return Arrays.stream(StateRow.values()).filter(row -> row.isOf(this)).toList();
  }
}
