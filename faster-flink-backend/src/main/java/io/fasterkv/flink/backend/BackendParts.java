package io.fasterkv.flink.backend;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.snapshot.IncrementalStrategy;
import io.fasterkv.flink.state.ExpiryRules;
import io.fasterkv.flink.state.StateContext;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.TimerQueues;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a keyed backend.
 *
 * @param <K> type of the keys
 * @param resources the store, its memory and its directory
 * @param keys the keys that the subtask is responsible for
 * @param states the states by name and number
 * @param timers the timer queues
 * @param context what the states share
 * @param incremental how incremental checkpoints are taken; null if checkpoints are full
 * @param expiry what compaction drops in states with a time to live
 * @param compression how snapshots are compressed
 */
record BackendParts<K>(
    StoreResources resources,
    KeySpace<K> keys,
    StateRegistry states,
    TimerQueues timers,
    StateContext<K> context,
    @Nullable IncrementalStrategy incremental,
    ExpiryRules expiry,
    StreamCompressionDecorator compression) {}
