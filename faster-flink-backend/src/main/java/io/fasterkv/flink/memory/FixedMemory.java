package io.fasterkv.flink.memory;

import java.io.IOException;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Limits the memory of stores and slots with a fixed size to the TaskManager's task off-heap
 * memory, over all stores of the process. Safe for use by all threads.
 */
final class FixedMemory {
  /** The stores and slots of this process. */
  static final FixedMemory OF_THE_PROCESS = new FixedMemory();

  private long reserved;

  /**
   * Reserves memory for one store, or for those of one slot.
   *
   * @param option sets the size
   * @param taskManager the configuration of the TaskManager; on a cluster it always has the limit;
   *     if it has none, as in a test harness, nothing is checked
   * @throws IOException if the TaskManager has too little; the message says what to change
   */
  synchronized void reserve(long bytes, ConfigOption<?> option, ReadableConfig taskManager)
      throws IOException {
    long limit =
        taskManager
            .getOptional(TaskManagerOptions.TASK_OFF_HEAP_MEMORY)
            .map(MemorySize::getBytes)
            .orElse(Long.MAX_VALUE);
    if (bytes > limit - reserved) {
      throw new IOException(
          "the fixed memory of stores does not fit the TaskManager's off-heap memory: "
              + option.key()
              + "="
              + bytes
              + " bytes, used by others="
              + reserved
              + ", "
              + TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key()
              + "="
              + limit
              + "; raise the latter to the sum of all of them, or lower the former");
    }
    reserved += bytes;
  }

  synchronized void release(long bytes) {
    reserved -= bytes;
  }

  /** Bytes that stores and slots have reserved now. */
  synchronized long reserved() {
    return reserved;
  }
}
