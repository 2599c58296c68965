package io.fasterkv.flink;

import java.util.List;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;

/** Runs Flink's suite with stores in memory, and with stores on disk. */
class FasterStateBackendTest extends StateBackendSuite {

  @Parameters
  static List<TestSettings> settings() {
    return List.of(TestSettings.MANAGED, TestSettings.TINY_INCREMENTAL);
  }
}
