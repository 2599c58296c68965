package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.tree.TimerTree;
import io.fasterkv.flink.records.tree.TimerTrees;
import io.fasterkv.flink.state.RegisteredQueue;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Rewrites the timers of a queue whose serializer has changed its format. Their order may change
 * with it, so they are moved one by one to a second set and back. For the task thread.
 *
 * @param <T> type of the elements
 */
final class QueueMigration<T> {
  /** The key of the second set's records. */
  private static final byte[] SECOND = {1};

  private final RegisteredQueue<T> queue;
  private final TimerTrees trees;
  private final ElementBytes<T> before;
  private final ElementBytes<T> now;
  private final Bytes bytes = new Bytes();

  QueueMigration(RegisteredQueue<T> queue, TimerTrees trees, TypeSerializer<T> before) {
    this.queue = queue;
    this.trees = trees;
    this.before = new ElementBytes<>(before);
    this.now = new ElementBytes<>(queue.serializer());
  }

  /** Migrates the set of one key group. */
  void migrate(int keyGroup, TimerTree set) {
    TimerTree second = trees.tree(keyGroup, queue.id(), SECOND);
    // Remove an element before adding it to the other set: a long element's bytes are stored once
    // for both.
    while (set.first(bytes)) {
      set.removeFirst();
      now.write(before.read(bytes));
      second.add(now.array(), 0, now.length());
    }
    while (second.first(bytes)) {
      second.removeFirst();
      set.add(bytes.array(), 0, bytes.length());
    }
  }
}
