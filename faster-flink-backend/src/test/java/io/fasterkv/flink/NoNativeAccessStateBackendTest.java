package io.fasterkv.flink;

import java.util.List;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.Tag;

/** Runs Flink's own suite with stores that allocate from the C library and do not map files. */
@Tag("no-native-access")
@Tag("long")
class NoNativeAccessStateBackendTest extends StateBackendSuite {

  @Parameters
  static List<TestSettings> settings() {
    return List.of(TestSettings.values());
  }
}
