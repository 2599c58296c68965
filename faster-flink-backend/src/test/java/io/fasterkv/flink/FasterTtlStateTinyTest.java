package io.fasterkv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.EvictingRecords;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("long")
class FasterTtlStateTinyTest extends FasterTtlStateTestBase {
  @BeforeAll
  static void beginToCount() {
    EvictingRecords.takePercentOnDisk();
  }

  @AfterAll
  static void whatTinyStoresLookedAtWasOnDisk() {
    assertThat(EvictingRecords.takePercentOnDisk()).isGreaterThan(80);
  }

  @Override
  TestSettings settings() {
    return TestSettings.TINY;
  }
}
