package io.fasterkv.flink;

import java.util.Arrays;
import java.util.List;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.Tag;

/** Runs Flink's suite with the settings that {@link FasterStateBackendTest} leaves out. */
@Tag("slow")
class MoreStateBackendTest extends StateBackendSuite {

  @Parameters
  static List<TestSettings> settings() {
    return Arrays.stream(TestSettings.values())
        .filter(each -> !FasterStateBackendTest.settings().contains(each))
        .toList();
  }
}
