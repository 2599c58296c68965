package io.fasterkv.flink.backend;

import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;

/**
 * Flink's measurements of each state access.
 *
 * @param latency measures how long accesses take
 * @param size measures how large keys and values are
 */
public record Tracking(LatencyTrackingStateConfig latency, SizeTrackingStateConfig size) {}
