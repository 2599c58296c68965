package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.device.memory.MemoryDevice;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests what a store without a device has none of. */
class InMemorySettingsTest {

  @Test
  void hasNoFilesAndNoCheckpoints() {
    StoreConfig config = InMemoryTest.config().build();
    assertThat(config.isInMemory()).isTrue();
    assertThat(config.mutableFraction()).isEqualTo(1);
    assertThatThrownBy(config::directory).isInstanceOf(BadConfig.class);
    try (FasterStore store = FasterStore.open(config)) {
      assertThatThrownBy(store.checkpoints()::take)
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("builder(directory)");
      assertThat(store.checkpoints().list()).isEmpty();
      assertThat(store.log().storedBytes()).isZero();
      assertThat(store.statistics().memory().logBytes()).isEqualTo(config.logMemoryBytes());
    }
    assertThatThrownBy(() -> FasterStore.recover(config)).isInstanceOf(BadConfig.class);
    assertThatThrownBy(() -> FasterStore.open(config, new MemoryDevice()))
        .isInstanceOf(BadConfig.class);
  }

  static Stream<StoreConfigBuilder> impossible() {
    return Stream.of(
        InMemoryTest.config().mutableFraction(0.9),
        InMemoryTest.config().segmentBytes(1 << 20),
        InMemoryTest.config().directIo(true),
        InMemoryTest.config().ioKind(IoKind.URING),
        InMemoryTest.config().deleteOnClose(false),
        InMemoryTest.config().compactionBytesPerSecond(1),
        InMemoryTest.config().logMemoryBytes(4L * InMemoryTest.PAGE_BYTES),
        InMemoryTest.config().pageBytes(4 * InMemoryTest.PAGE_BYTES));
  }

  @ParameterizedTest
  @MethodSource("impossible")
  void refusesSettingsOfADevice(StoreConfigBuilder builder) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("allowed=");
  }
}
