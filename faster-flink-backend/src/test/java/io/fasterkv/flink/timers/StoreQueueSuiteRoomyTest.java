package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;

/** Runs the suite with all timers in memory. */
class StoreQueueSuiteRoomyTest extends StoreQueueSuiteTestBase {
  @Override
  TestRecords open(Path in) {
    return new TestRecords(in, 32 << 20, 64 << 10);
  }
}
