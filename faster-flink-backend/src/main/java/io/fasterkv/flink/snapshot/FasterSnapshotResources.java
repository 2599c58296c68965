package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.state.Registered;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
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
 * One snapshot: a cut of the log, the timers on the heap, and the metadata of the states at that
 * moment. The task thread takes it, and another thread writes it. The cut and the store are
 * released as soon as the records are sorted, or by {@link #release}, which cancels the snapshot.
 * So a thread that hangs in checkpoint storage keeps neither.
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
  private boolean storeReleased;

  /** Takes a snapshot of the current states and timers without copying any state. */
  public FasterSnapshotResources(
      LocalStore local,
      KeySpace<K> keys,
      StateRegistry states,
      ValueIncarnations incarnations,
      TimerQueues timerQueues,
      StreamCompressionDecorator compression)
      throws IOException {
    this.local = local;
    this.keys = keys;
    this.compression = compression;
    for (Registered state : states.all()) {
      metaInfos.add(state.metaInfo().snapshot());
      exports.add(StateExport.of(state, keys, incarnations));
    }
    timers = timerQueues.onHeap();
    for (HeapPriorityQueueStateSnapshot<?> queue : timers) {
      metaInfos.add(queue.getMetaInfoSnapshot());
    }
    lease = local.guard().acquireResource();
    try {
      cut = local.store().log().cut();
    } catch (Throwable failure) {
      lease.close();
      throw failure;
    }
  }

  @Override
  public List<StateMetaInfoSnapshot> getMetaInfoSnapshots() {
    return metaInfos;
  }

  @Override
  public KeyValueStateIterator createKVStateIterator() throws IOException {
    RecordSorter sorter =
        new RecordSorter(local.directory(), local.sortBufferBytes(), cancellation, local.logger());
    AtomicReference<SortedRecords> sorting = new AtomicReference<>();
    try {
      cancellation.inStore(() -> {
        CutSort.sort(local, cut, sorter, key -> true);
        sorting.set(sorter.sorted());
      });
      releaseStore();
      SortedRecords sorted = Objects.requireNonNull(sorting.get());
      return new SnapshotIterator(
          new SavepointEntries(sorted, exports, keys.savepointPrefixBytes()),
          new TimerEntries(timers, keys.savepointPrefixBytes()),
          exports.size(),
          keys.range(),
          () -> IOUtils.closeAll(sorted, sorter));
    } catch (Throwable failure) {
      IOUtils.closeAllQuietly(sorting.get(), sorter);
      throw failure;
    }
  }

  private synchronized void releaseStore() {
    if (storeReleased) {
      return;
    }
    storeReleased = true;
    try {
      cut.close();
    } finally {
      lease.close();
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

  /** Cancels what is not written yet. For any thread; does not wait for others. */
  @Override
  public void release() {
    cancellation.releaseWhenUnused(this::releaseStore);
  }
}
