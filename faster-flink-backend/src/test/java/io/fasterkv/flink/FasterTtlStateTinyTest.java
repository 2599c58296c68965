package io.fasterkv.flink;

class FasterTtlStateTinyTest extends FasterTtlStateTestBase {
  @Override
  TestSettings settings() {
    return TestSettings.TINY;
  }
}
