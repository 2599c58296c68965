package io.fasterkv.api.config;

import static io.fasterkv.api.config.StoreConfig.RecordKind.LONGS;
import static java.lang.reflect.Modifier.isPublic;
import static java.lang.reflect.Modifier.isStatic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that invalid settings are refused by name, with their value and what is allowed. */
class ConfigRulesTest {
  private static StoreConfigBuilder builder() {
    return StoreConfig.builder(Path.of("nowhere")).memoryBytes(1 << 20);
  }

  private static void assertRefused(
      String name, Object value, UnaryOperator<StoreConfigBuilder> setting) {
    assertThatThrownBy(() -> setting.apply(builder()).build())
        .as(name + "=" + value)
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining(name + " is out of range: " + name + "=" + value)
        .hasMessageContaining("allowed=");
  }

  @Test
  void theDefaultsFit() {
    StoreConfig config = StoreConfig.builder(Path.of("nowhere")).build();
    assertThat(config.memoryBytes()).isEqualTo(256L << 20);
    assertThat(sum(config)).isLessThanOrEqualTo(config.memoryBytes());
    assertThat(config.logMemoryBytes() / config.pageBytes()).isGreaterThanOrEqualTo(4);
  }

  /** {@code build} checks the settings, and there is no other way to create them. */
  @Test
  void onlyTheBuilderMakesSettings() {
    assertThat(StoreConfig.class).isFinal();
    assertThat(StoreConfig.class.isRecord()).isFalse();
    assertThat(StoreConfig.class.getConstructors()).isEmpty();
    assertThat(StoreConfigBuilder.class.getConstructors()).isEmpty();
    assertThat(StoreConfigBuilder.class).isFinal();
    assertThat(
            Stream.of(StoreConfig.class, StoreConfigBuilder.class)
                .flatMap(type -> Stream.of(type.getMethods()))
                .filter(method -> method.getReturnType() == StoreConfig.class)
                .map(Method::getName))
        .containsExactly("build");
    assertThat(StoreConfig.class.getFields()).allMatch(field -> isStatic(field.getModifiers()));
    assertThat(StoreConfigBuilder.class.getFields()).isEmpty();
  }

  @Test
  void settingsDoNotChangeWithTheirBuilder() {
    StoreConfigBuilder builder = builder();
    StoreConfig config = builder.build();
    builder.memoryBytes(-5).pageBytes(1);
    assertThat(config.memoryBytes()).isEqualTo(1 << 20);
    config.toBuilder().memoryBytes(-5);
    assertThat(config.memoryBytes()).isEqualTo(1 << 20);
    assertThatThrownBy(() -> config.toBuilder().memoryBytes(-5).build())
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("memoryBytes=-5");
  }

  /** Derived settings are kept, so that a second build has nothing left to derive. */
  @Test
  void aCopyOfSettingsHasTheSameValues() throws ReflectiveOperationException {
    for (StoreConfigBuilder builder :
        List.of(
            builder(),
            builder().ioKind(IoKind.FILE).segmentBytes(1 << 20),
            builder().logHalvings(2).growingIndex(true),
            builder().maxIndexBytes(1 << 16).merge((key, older, newer) -> 0).recordKind(LONGS),
            StoreConfig.inMemory().memoryBytes(1 << 20))) {
      StoreConfig config = builder.build();
      StoreConfig copy = config.toBuilder().build();
      for (Method method : StoreConfig.class.getDeclaredMethods()) {
        boolean isSetting = method.getParameterCount() == 0 && isPublic(method.getModifiers());
        boolean hasOne = !config.isInMemory() || !method.getName().equals("directory");
        if (isSetting && hasOne && !List.of("toBuilder", "inMemory").contains(method.getName())) {
          assertThat(method.invoke(copy)).as(method.getName()).isEqualTo(method.invoke(config));
        }
      }
    }
  }

  /** From 128 KiB on, the derived parts add up. */
  @Test
  void theDerivedPartsFitAnyBudget() {
    for (long memory = 128 << 10; memory <= 1L << 40; memory += memory / 3) {
      StoreConfig config = builder().memoryBytes(memory).build();
      assertThat(sum(config)).as("memoryBytes=" + memory).isLessThanOrEqualTo(memory);
      assertThat(config.logMemoryBytes() / config.pageBytes()).isGreaterThanOrEqualTo(4);
      assertThat(config.scratchBytes()).isGreaterThanOrEqualTo(2L * config.pageBytes());
      assertThat(config.indexBytes()).isGreaterThanOrEqualTo(256);
    }
  }

  private static long sum(StoreConfig config) {
    return config.indexBytes()
        + config.logMemoryBytes()
        + config.scratchBytes()
        + config.ringBytes();
  }

  @Test
  void ringsTakeASmallPartOfTheAvailableMemory() {
    StoreConfig large = builder().memoryBytes(256L << 20).maxSessions(64).build();
    assertThat(large.maxRings()).isEqualTo(64);
    assertThat(builder().build().maxRings()).isEqualTo(2);
    assertThat(builder().memoryBytes(256 << 10).build().maxRings()).isZero();
    assertThat(builder().ioKind(IoKind.FILE).build().maxRings()).isZero();
    StoreConfig derived = builder().build();
    StoreConfig full =
        builder()
            .logMemoryBytes(derived.logMemoryBytes())
            .scratchBytes(derived.scratchBytes())
            .indexBytes(derived.indexBytes() + 2 * StoreConfig.RING_BYTES)
            .build();
    assertThat(full.maxRings()).as("the settings request the index but no rings").isZero();
  }

  @Test
  void refusesSettingsOutOfRange() {
    for (long bytes : new long[] {Long.MIN_VALUE, -1, 0, 65535, Long.MAX_VALUE}) {
      assertRefused("memoryBytes", bytes, b -> b.memoryBytes(bytes));
    }
    for (long bytes : new long[] {Long.MIN_VALUE, -1, 64, 4096, 8192, 12288, 3 << 14, 1L << 62}) {
      assertRefused("logMemoryBytes", bytes, b -> b.logMemoryBytes(bytes));
    }
    for (int bytes : new int[] {Integer.MIN_VALUE, -4096, 1, 2048, 4097, 12288, 1 << 30}) {
      assertRefused("pageBytes", bytes, b -> b.pageBytes(bytes));
    }
    assertRefused("pageBytes", 8192, b -> b.logMemoryBytes(16384).pageBytes(8192));
    for (double fraction : new double[] {-0.1, 1.1, Double.NaN}) {
      assertRefused("mutableFraction", fraction, b -> b.mutableFraction(fraction));
    }
    for (long bytes : new long[] {-1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertRefused("indexBytes", bytes, b -> b.indexBytes(bytes));
    }
    assertRefused("indexBytes", 255L, b -> b.indexBytes(255));
    for (long bytes : new long[] {-1, 8191, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertRefused("scratchBytes", bytes, b -> b.pageBytes(4096).scratchBytes(bytes));
    }
    for (long bytes : new long[] {-1, 2048, 4097, 1L << 31, Long.MAX_VALUE}) {
      assertRefused("segmentBytes", bytes, b -> b.pageBytes(4096).segmentBytes(bytes));
    }
    for (int sessions : new int[] {Integer.MIN_VALUE, -1, 0, 1025, Integer.MAX_VALUE}) {
      assertRefused("maxSessions", sessions, b -> b.maxSessions(sessions));
    }
  }

  @Test
  void showsTheSumOfPartsThatDoNotFit() {
    assertThatThrownBy(() -> builder().logMemoryBytes(1 << 19).indexBytes(1 << 19).build())
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("memoryBytes=1048576")
        .hasMessageContaining("indexBytes=524288")
        .hasMessageContaining("logMemoryBytes=524288")
        .hasMessageContaining("scratchBytes");
  }
}
