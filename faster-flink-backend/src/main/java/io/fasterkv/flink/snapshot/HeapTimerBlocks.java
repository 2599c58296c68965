package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.flink.core.memory.ByteArrayOutputStreamWithPos;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/**
 * Stores timers on the heap in blocks of a checkpoint's meta file: one block for each key group,
 * with the queue number, length and bytes of each timer. There are no blocks if there are no
 * queues.
 */
public final class HeapTimerBlocks {
  private HeapTimerBlocks() {}

  /** Receives a timer that was read. */
  public interface Visitor {
    /**
     * @param queue number of the timer's queue
     * @param bytes the serialized timer, from {@code offset} to the end
     */
    void visit(int queue, int keyGroup, byte[] bytes, int offset) throws IOException;
  }

  static void write(
      List<HeapPriorityQueueStateSnapshot<?>> queues,
      KeySpace<?> keys,
      OutputStream to,
      Cancellation cancellation)
      throws IOException {
    if (queues.isEmpty()) {
      return;
    }
    ByteArrayOutputStreamWithPos bytes = new ByteArrayOutputStreamWithPos();
    DataOutputStream out = new DataOutputStream(bytes);
    int prefixBytes = keys.savepointPrefixBytes();
    TimerEntries timers = new TimerEntries(queues, prefixBytes);
    for (int keyGroup : keys.range()) {
      cancellation.check();
      bytes.reset();
      timers.start(keyGroup);
      for (byte[] timer = timers.next(); timer.length > 0; timer = timers.next()) {
        out.writeInt(timers.queue());
        out.writeInt(timer.length - prefixBytes);
        out.write(timer, prefixBytes, timer.length - prefixBytes);
      }
      out.flush();
      Blocks.write(to, bytes.getBuf(), bytes.getPosition());
    }
  }

  /**
   * Reads the timers of the wanted key groups; the file must be positioned after the first block.
   */
  public static void read(
      Blocks.In file, KeyGroupRange written, KeyGroupRange wanted, Visitor visitor)
      throws IOException {
    for (int keyGroup : written) {
      ByteBuffer block = ByteBuffer.wrap(file.block());
      while (wanted.contains(keyGroup) && block.hasRemaining()) {
        int queue = block.getInt();
        byte[] timer = new byte[block.getInt()];
        block.get(timer);
        visitor.visit(queue, keyGroup, timer, 0);
      }
    }
  }
}
