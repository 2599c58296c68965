package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.MostlyOnDisk;
import io.fasterkv.flink.records.TestRecords;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the suite with all timers on disk whenever a queue reads them. */
@Tag("long")
class StoreQueueSuiteOnDiskTest extends StoreQueueSuiteTestBase {
  @RegisterExtension static final MostlyOnDisk ON_DISK = MostlyOnDisk.over(50);

  @Override
  TestRecords open(Path in) {
    return TestRecords.evicting(in);
  }
}
