package io.fasterkv.flink.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class UnknownOptionsTest {

  @Test
  void aMisspelledKeyIsUnknownAndOthersAreNot() {
    Configuration config = new Configuration();
    config.setString("state.backend.faster.timer", "heap");
    config.setString("state.backend.faster.timers", "heap");
    config.setString("state.backend.rocksdb.timer", "heap");
    assertThat(UnknownOptions.in(config)).containsExactly("state.backend.faster.timer");
  }

  @Test
  void allOptionsAreKnown() {
    assertThat(UnknownOptions.known())
        .contains(FasterOptions.TIMERS.key(), FasterOptions.LOCAL_DIRECTORIES.key())
        .allSatisfy(key -> assertThat(key).startsWith("state.backend.faster."));
  }
}
