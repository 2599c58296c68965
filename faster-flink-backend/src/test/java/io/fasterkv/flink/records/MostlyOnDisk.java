package io.fasterkv.flink.records;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a class of tests if too few of its tiny stores' sessions found their records on disk. */
public final class MostlyOnDisk implements BeforeAllCallback, AfterAllCallback {
  private final int percent;

  private MostlyOnDisk(int percent) {
    this.percent = percent;
  }

  /** More than {@code percent} of the sessions; see {@link EvictingRecords#takePercentOnDisk}. */
  public static MostlyOnDisk over(int percent) {
    return new MostlyOnDisk(percent);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    EvictingRecords.takePercentOnDisk();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    assertThat(EvictingRecords.takePercentOnDisk())
        .as("percent of sessions on disk")
        .isGreaterThan(percent);
  }
}
