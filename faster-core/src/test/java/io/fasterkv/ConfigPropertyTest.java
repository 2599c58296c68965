package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.statistics.MemoryUse;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that any settings are either refused with a helpful message or create a store within its
 * budget.
 */
@Tag("seeds")
class ConfigPropertyTest {
  private static final int CONFIGS = 300;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void settingsAreRefusedOrFit(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int opened = 0;
    int refused = 0;
    for (int i = 0; i < CONFIGS; i++) {
      StoreConfigBuilder builder = builder(random);
      try {
        StoreConfig config = builder.build();
        checkOpens(config, "seed " + seed + ", config " + config);
        opened++;
      } catch (BadConfig e) {
        assertThat(e).as("seed " + seed).hasMessageMatching("(?s).*\\w+=.*(allowed=|needed=).*");
        refused++;
      }
    }
    assertThat(opened).as("seed " + seed).isPositive();
    assertThat(refused).as("seed " + seed).isPositive();
  }

  private StoreConfigBuilder builder(SplittableRandom random) {
    StoreConfigBuilder builder = StoreConfig.builder(directory).deleteOnClose(true);
    builder.memoryBytes(random.nextLong(1 << 10, 1 << (12 + random.nextInt(11))));
    if (random.nextBoolean()) {
      builder.pageBytes(1 << random.nextInt(10, 20));
    }
    if (random.nextInt(3) == 0) {
      builder.logMemoryBytes(random.nextLong(1 << 10, 1 << 20));
    } else if (random.nextBoolean()) {
      builder.logMemoryBytes(1L << random.nextInt(10, 22));
    }
    if (random.nextInt(3) == 0) {
      builder.indexBytes(random.nextLong(-10, 1 << 20));
    }
    if (random.nextInt(3) == 0) {
      builder.scratchBytes(random.nextLong(0, 1 << 20));
    }
    if (random.nextInt(3) == 0) {
      builder.maxSessions(random.nextInt(-1, 1100));
    }
    if (random.nextInt(4) == 0) {
      builder.mutableFraction(random.nextDouble(-0.1, 1.1));
    }
    if (random.nextInt(6) == 0) {
      builder.segmentBytes(1L << random.nextInt(8, 32));
    }
    return builder;
  }

  private static void checkOpens(StoreConfig config, String as) {
    try (FasterStore store = FasterStore.open(config);
        var session = store.newSession().spans(new BytesFunctions())) {
      assertThat(session.upsert(ByteSpan.of(new byte[4]), ByteSpan.of(new byte[9]), null))
          .as(as)
          .isEqualTo(Status.CREATED);
      MemoryUse use = store.statistics().memory();
      assertThat(use.budgetBytes()).as(as).isEqualTo(config.memoryBytes());
      assertThat(store.statistics().memoryBytes()).as(as).isLessThanOrEqualTo(config.memoryBytes());
      assertThat(use.usedBytes()).as(as).isEqualTo(store.statistics().memoryBytes());
      assertThat(use.logBytes()).as(as).isEqualTo(config.logMemoryBytes());
      assertThat(use.scratchLentBytes()).as(as).isPositive();
      // Rings are the only memory that is neither of these parts.
      assertThat(use.otherBytes()).as(as).isLessThanOrEqualTo(config.ringBytes());
    }
  }
}
