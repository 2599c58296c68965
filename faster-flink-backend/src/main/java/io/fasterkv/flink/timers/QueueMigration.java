package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.ByteTree;
import io.fasterkv.flink.records.ByteTrees;
import io.fasterkv.flink.records.Bytes;
import io.fasterkv.flink.state.RegisteredQueue;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Rewrites the timers of a queue whose serializer's format has changed. Their order may change with
 * it, so they are moved to a second set and back, one after the other. For the task thread.
 *
 * @param <T> type of the elements
 */
final class QueueMigration<T> {
  /** The key of the second set's records. */
  private static final byte[] SECOND = {1};

  private final RegisteredQueue<T> queue;
  private final ByteTrees trees;
  private final ElementBytes<T> before;
  private final ElementBytes<T> now;
  private final Bytes bytes = new Bytes();

  QueueMigration(RegisteredQueue<T> queue, ByteTrees trees, TypeSerializer<T> before) {
    this.queue = queue;
    this.trees = trees;
    this.before = new ElementBytes<>(before);
    this.now = new ElementBytes<>(queue.serializer());
  }

  /** Migrates the set of one key group. */
  void migrate(int keyGroup, ByteTree set) {
    ByteTree second = trees.tree(keyGroup, queue.id(), SECOND);
    // An element leaves one set before it enters the other: a long one's bytes are shared.
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
