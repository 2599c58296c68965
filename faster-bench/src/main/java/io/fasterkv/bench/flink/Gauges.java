package io.fasterkv.bench.flink;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** A metric group that keeps the gauges of itself and of all groups in it, by their names. */
final class Gauges extends UnregisteredMetricsGroup {
  private final Map<String, Gauge<?>> byName = new ConcurrentHashMap<>();

  @Override
  public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
    byName.put(name, gauge);
    return gauge;
  }

  @Override
  public MetricGroup addGroup(String name) {
    return this;
  }

  /** The value of a number's gauge; 0 if there is none of this name. */
  long value(String name) {
    Gauge<?> gauge = byName.get(name);
    return gauge == null ? 0 : ((Number) gauge.getValue()).longValue();
  }
}
