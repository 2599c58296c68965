package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

@Tag("long")
class FasterTtlStateRoomyTest extends FasterTtlStateTestBase {
  @Override
  TestSettings settings() {
    return TestSettings.ROOMY;
  }
}
