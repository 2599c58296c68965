package io.fasterkv.demo.job;

import java.util.Properties;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Passes the stores' gauges from Flink's metrics to the run's {@link StoreGauges}. */
public final class StoreReporter implements MetricReporter {
  /** The property that names the run. */
  public static final String RUN_ID = "run-id";

  private static final String METRIC_GROUP = "faster";

  private final StoreGauges gauges;

  private StoreReporter(StoreGauges gauges) {
    this.gauges = gauges;
  }

  @Override
  public void open(MetricConfig config) {}

  @Override
  public void close() {}

  @Override
  public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
    String[] scope = group.getScopeComponents();
    if (scope[scope.length - 1].equals(METRIC_GROUP)) {
      gauges.add(metric, name);
    }
  }

  @Override
  public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
    gauges.remove(metric);
  }

  /** Flink finds it as a service. */
  public static final class Factory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties properties) {
      return new StoreReporter(RunControl.of(properties.getProperty(RUN_ID)).gauges());
    }
  }
}
