package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;

/** Runs the suite with timers that are written in memory and often evicted to disk. */
class StoreQueueSuiteSmallTest extends StoreQueueSuiteTestBase {
  @Override
  TestRecords open(Path in) {
    return new TestRecords(in);
  }
}
