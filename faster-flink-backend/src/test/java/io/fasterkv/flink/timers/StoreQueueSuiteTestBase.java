package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.TestRecords;
import io.fasterkv.flink.state.StateRegistry;
import java.nio.file.Path;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.InternalPriorityQueueTestBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs Flink's own suite for priority queues. */
abstract class StoreQueueSuiteTestBase extends InternalPriorityQueueTestBase {

  @TempDir Path directory;

  private TestRecords test;
  private StoreTimers timers;
  private int queues;

  /** The store to run on. */
  abstract TestRecords open(Path in);

  @BeforeEach
  void open() {
    test = open(directory);
    timers =
        new StoreTimers(
            KEY_GROUP_RANGE,
            KEY_GROUP_RANGE.getNumberOfKeyGroups(),
            new StateRegistry(),
            test.records.trees());
  }

  @AfterEach
  void close() {
    test.close();
  }

  @Override
  protected InternalPriorityQueue<TestElement> newPriorityQueue(int initialCapacity) {
    return timers.queue("queue " + queues++, TestElementSerializer.INSTANCE, false);
  }

  @Override
  protected boolean testSetSemanticsAgainstDuplicateElements() {
    return true;
  }
}
