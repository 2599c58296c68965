package io.fasterkv.demo.job;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;

/**
 * The gauges of the state backend's stores, added up over all of them. Only FASTER has such gauges;
 * for other backends everything is 0. Safe for use by several threads.
 */
public final class StoreGauges {
  private static final String LOG = "logBytes";
  private static final String MEMORY = "memoryBytes";

  private final Set<Gauge<?>> logs = ConcurrentHashMap.newKeySet();
  private final Set<Gauge<?>> memories = ConcurrentHashMap.newKeySet();
  private final AtomicLong mostLogBytes = new AtomicLong();
  private final AtomicLong mostMemoryBytes = new AtomicLong();

  void add(Metric metric, String name) {
    if (metric instanceof Gauge<?> gauge) {
      if (name.equals(LOG)) {
        logs.add(gauge);
      } else if (name.equals(MEMORY)) {
        memories.add(gauge);
      }
    }
  }

  void remove(Metric metric) {
    if (metric instanceof Gauge<?> gauge) {
      logs.remove(gauge);
      memories.remove(gauge);
    }
  }

  /** Reads all gauges. */
  public void look() {
    mostLogBytes.accumulateAndGet(sum(logs), Math::max);
    mostMemoryBytes.accumulateAndGet(sum(memories), Math::max);
  }

  /** Returns the highest sum seen of the logs' sizes in memory and on disk, in bytes. */
  public long mostLogBytes() {
    return mostLogBytes.get();
  }

  /** Returns the highest sum seen of the memory that the stores have leased, in bytes. */
  public long mostMemoryBytes() {
    return mostMemoryBytes.get();
  }

  private static long sum(Set<Gauge<?>> gauges) {
    long sum = 0;
    for (Gauge<?> gauge : gauges) {
      sum += gauge.getValue() instanceof Long bytes ? bytes : 0;
    }
    return sum;
  }
}
