package io.fasterkv.flink.timers;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;

/** A timer queue that is being filled from a snapshot. */
public final class RestoredQueue {
  private final HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement> queue;

  @SuppressWarnings("unchecked")
  RestoredQueue(HeapPriorityQueueSnapshotRestoreWrapper<?> queue) {
    this.queue = (HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement>) queue;
  }

  /** Adds the timer that the rest of the input holds. */
  public void add(DataInputDeserializer timer) throws IOException {
    queue.getPriorityQueue().add(queue.getMetaInfo().getElementSerializer().deserialize(timer));
  }
}
