package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;

/** Timers are written in memory, and many leave it for disk. */
class StoreQueueSuiteSmallTest extends StoreQueueSuiteTestBase {
  @Override
  TestRecords open(Path in) {
    return new TestRecords(in);
  }
}
