package io.fasterkv.flink.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FasterSettingsTest {

  @ParameterizedTest
  @CsvSource({
    "state.backend.faster.local-dir, here/there, absolute local paths",
    "state.backend.faster.memory.fixed-per-operator, 1kb, 1 mb and above",
    "state.backend.faster.memory.fixed-per-slot, 1kb, 1 mb and above",
    "state.backend.faster.memory.minimum-per-operator, 3kb, 1 mb and above",
    "state.backend.faster.memory.operators-per-slot, 0, 1 to 1000",
    "state.backend.faster.memory.operators-per-slot, 1001, 1 to 1000",
    "state.backend.faster.log.mutable-fraction, -0.1, 0 to 1",
    "state.backend.faster.snapshot.sort-buffer, 1kb, 64 kb to 1 gb",
    "state.backend.faster.snapshot.streams, 0, 1 to 256",
    "state.backend.faster.timers, disk, store or heap",
  })
  void anOptionOutOfRangeIsNamedWithItsValueAndWhatIsAllowed(
      String option, String value, String allowed) {
    Configuration config = new Configuration();
    config.setString(option, value);
    assertThatThrownBy(() -> FasterSettings.from(config))
        .isInstanceOf(IllegalConfigurationException.class)
        .hasMessageContaining(option + "=")
        .hasMessageContaining("allowed=" + allowed)
        .hasMessageContaining("change or remove the option");
  }

  @Test
  void defaultsNeedNoTuning() {
    FasterSettings settings = FasterSettings.defaults();
    assertThat(settings.fixedMemoryBytes()).isZero();
    assertThat(settings.operators()).isEqualTo(32);
    assertThat(settings.pageBytes()).isEqualTo(64 << 10);
    assertThat(settings.localDirectories()).isEmpty();
  }

  @Test
  void severalDirectoriesCanBeGiven() {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.local-dir", "/a;/b");
    assertThat(FasterSettings.from(config).localDirectories()).containsExactly("/a", "/b");
  }

  @Test
  void aStoreHasAFixedSizeOfItsOwnOrSharesOne() {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.memory.fixed-per-slot", "8mb");
    config.setString("state.backend.faster.memory.fixed-per-operator", "2mb");
    assertThatThrownBy(() -> FasterSettings.from(config))
        .hasMessageContaining("fixed-per-slot=8 mb, allowed=none")
        .hasMessageContaining("fixed-per-operator is set");
  }
}
