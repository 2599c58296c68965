package io.fasterkv.flink;

import java.util.List;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;

/** Runs Flink's suite with stores on disk and incremental checkpoints. */
class FasterStateBackendTest extends StateBackendSuite {

  @Parameters
  static List<TestSettings> settings() {
    return List.of(TestSettings.TINY_INCREMENTAL);
  }
}
