package io.fasterkv.flink.timers;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.EvictingRecords;
import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** All timers are on disk whenever a queue looks at them. */
class StoreQueueSuiteOnDiskTest extends StoreQueueSuiteTestBase {
  @BeforeAll
  static void beginToCount() {
    EvictingRecords.takePercentOnDisk();
  }

  @AfterAll
  static void blocksWereReadFromDisk() {
    assertThat(EvictingRecords.takePercentOnDisk()).isGreaterThan(50);
  }

  @Override
  TestRecords open(Path in) {
    return TestRecords.evicting(in);
  }
}
