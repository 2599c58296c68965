package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.Identities;
import io.fasterkv.flink.state.Registered;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.ResourceGuard;

/**
 * One snapshot: a cut of the log, the timers on the heap, and what is known about the states at
 * that moment. Taken by the task thread, written by another one. The cut is given back as soon as
 * its records are sorted, and at the latest by {@link #release}; the store stays open until that.
 *
 * @param <K> type of the keys
 */
public final class FasterSnapshotResources<K> implements FullSnapshotResources<K> {
  private final LocalStore local;
  private final KeySpace<K> keys;
  private final StreamCompressionDecorator compression;
  private final List<StateMetaInfoSnapshot> metaInfos = new ArrayList<>();
  private final List<StateExport> exports = new ArrayList<>();
  private final List<HeapPriorityQueueStateSnapshot<?>> timers;
  private final Cancellation cancellation = new Cancellation();
  private final ResourceGuard.Lease lease;
  private final LogCut cut;
  private boolean cutClosed;

  /** Takes a snapshot of what the states and timers are now, without copying any state. */
  public FasterSnapshotResources(
      LocalStore local,
      KeySpace<K> keys,
      StateRegistry states,
      Identities identities,
      TimerQueues timerQueues,
      StreamCompressionDecorator compression)
      throws IOException {
    this.local = local;
    this.keys = keys;
    this.compression = compression;
    for (Registered state : states.all()) {
      metaInfos.add(state.metaInfo().snapshot());
      exports.add(StateExport.of(state, keys, identities));
    }
    timers = timerQueues.onHeap();
    for (HeapPriorityQueueStateSnapshot<?> queue : timers) {
      metaInfos.add(queue.getMetaInfoSnapshot());
    }
    lease = local.guard().acquireResource();
    try {
      cut = local.store().cut();
    } catch (RuntimeException | Error failure) {
      lease.close();
      throw failure;
    }
  }

  /** Closing it makes the writing thread stop soon. */
  Cancellation cancellation() {
    return cancellation;
  }

  @Override
  public List<StateMetaInfoSnapshot> getMetaInfoSnapshots() {
    return metaInfos;
  }

  @Override
  public KeyValueStateIterator createKVStateIterator() throws IOException {
    RecordSorter sorter =
        new RecordSorter(local.directory(), local.sortBufferBytes(), cancellation);
    try {
      CutSort.sort(local, cut, sorter, key -> true);
      closeCut();
      SortedRecords sorted = sorter.sorted();
      return new SnapshotIterator(
          new SavepointEntries(sorted, exports, keys.savepointPrefixBytes()),
          new TimerEntries(timers, keys.savepointPrefixBytes()),
          exports.size(),
          keys.range(),
          () -> IOUtils.closeAll(sorted, sorter));
    } catch (IOException | RuntimeException failure) {
      IOUtils.closeQuietly(sorter);
      throw failure;
    }
  }

  private synchronized void closeCut() {
    if (!cutClosed) {
      cutClosed = true;
      cut.close();
    }
  }

  @Override
  public KeyGroupRange getKeyGroupRange() {
    return keys.range();
  }

  @Override
  public TypeSerializer<K> getKeySerializer() {
    return keys.serializer();
  }

  @Override
  public StreamCompressionDecorator getStreamCompressionDecorator() {
    return compression;
  }

  @Override
  public void release() {
    try {
      closeCut();
    } finally {
      lease.close();
    }
  }
}
