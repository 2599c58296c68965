package io.fasterkv.flink.backend;

import io.fasterkv.flink.metrics.StoreMetrics;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** An operator's metric group that records the gauges of the backend's subgroup. */
final class RecordedGauges extends UnregisteredMetricsGroup {
  private final Map<String, Gauge<?>> gauges = new ConcurrentHashMap<>();

  @Override
  public MetricGroup addGroup(String name) {
    return name.equals(StoreMetrics.GROUP) ? new Backend() : super.addGroup(name);
  }

  long get(String name) {
    return (Long) gauges.get(name).getValue();
  }

  /** All current values, by name. */
  Map<String, Long> all() {
    Map<String, Long> all = new TreeMap<>();
    gauges.keySet().forEach(name -> all.put(name, get(name)));
    return all;
  }

  private final class Backend extends UnregisteredMetricsGroup {
    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
      gauges.put(name, gauge);
      return gauge;
    }
  }
}
