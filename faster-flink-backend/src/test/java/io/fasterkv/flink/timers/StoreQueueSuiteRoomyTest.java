package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;

/** All timers stay in memory. */
class StoreQueueSuiteRoomyTest extends StoreQueueSuiteTestBase {
  @Override
  TestRecords open(Path in) {
    return new TestRecords(in, 32 << 20, 64 << 10);
  }
}
