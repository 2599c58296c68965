package io.fasterkv.flink.timers;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.EvictingRecords;
import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Runs the suite with all timers on disk whenever a queue reads them. */
@Tag("long")
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
