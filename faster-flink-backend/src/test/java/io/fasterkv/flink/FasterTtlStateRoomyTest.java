package io.fasterkv.flink;

class FasterTtlStateRoomyTest extends FasterTtlStateTestBase {
  @Override
  TestSettings settings() {
    return TestSettings.ROOMY;
  }
}
