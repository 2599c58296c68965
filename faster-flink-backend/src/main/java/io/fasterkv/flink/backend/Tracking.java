package io.fasterkv.flink.backend;

import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;

/**
 * What Flink measures around each state access.
 *
 * @param latency how long accesses take
 * @param size how large keys and values are
 */
public record Tracking(LatencyTrackingStateConfig latency, SizeTrackingStateConfig size) {}
