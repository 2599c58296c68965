package io.fasterkv.flink.snapshot;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/**
 * Iterates over the timers of one key group after another, as entries of Flink's savepoint format.
 */
final class TimerEntries {
  private static final int FIRST_BYTES = 64;

  private final List<HeapPriorityQueueStateSnapshot<?>> queues;
  private final int prefixBytes;
  private final DataOutputSerializer out = new DataOutputSerializer(FIRST_BYTES);
  private int keyGroup;
  private int queue;
  private Iterator<?> timers = Collections.emptyIterator();

  TimerEntries(List<HeapPriorityQueueStateSnapshot<?>> queues, int keyGroupPrefixBytes) {
    this.queues = queues;
    this.prefixBytes = keyGroupPrefixBytes;
  }

  /** Moves before the first timer of a key group. */
  void start(int newKeyGroup) {
    keyGroup = newKeyGroup;
    queue = -1;
    timers = Collections.emptyIterator();
  }

  /** The key of the key group's next timer in a new array, or an empty array if there is none. */
  byte[] next() throws IOException {
    while (!timers.hasNext()) {
      if (++queue >= queues.size()) {
        return new byte[0];
      }
      timers = queues.get(queue).getIteratorForKeyGroup(keyGroup);
    }
    return key(queues.get(queue), timers.next());
  }

  /** Number of the last timer's queue. */
  int queue() {
    return queue;
  }

  @SuppressWarnings("unchecked")
  private <T> byte[] key(HeapPriorityQueueStateSnapshot<?> snapshot, T timer) throws IOException {
    out.clear();
    CompositeKeySerializationUtils.writeKeyGroup(keyGroup, prefixBytes, out);
    ((TypeSerializer<T>) snapshot.getMetaInfo().getElementSerializer()).serialize(timer, out);
    return out.getCopyOfBuffer();
  }
}
