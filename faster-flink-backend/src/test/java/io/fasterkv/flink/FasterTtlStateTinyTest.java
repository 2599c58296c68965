package io.fasterkv.flink;

import io.fasterkv.flink.records.MostlyOnDisk;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("long")
class FasterTtlStateTinyTest extends FasterTtlStateTestBase {
  @RegisterExtension static final MostlyOnDisk ON_DISK = MostlyOnDisk.over(80);

  @Override
  TestSettings settings() {
    return TestSettings.TINY;
  }
}
