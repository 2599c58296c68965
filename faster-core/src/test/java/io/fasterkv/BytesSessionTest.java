package io.fasterkv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sessions without functions, against a plain map, in memory and on disk. */
@Tag("seeds")
class BytesSessionTest {
  private static final int STEPS = 5_000;
  private static final int KEYS = 300;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(32 << 10)
        .pageBytes(4096)
        .scratchBytes(512 << 10)
        .build();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, String> model = new HashMap<>();
    // Neither commutative nor associative, and at times shorter than the old value.
    BinaryOperator<String> function =
        (old, given) -> old.length() % 3 == 0 ? given : old + "|" + given;
    try (FasterStore store = FasterStore.open(config());
        StringSession session = store.newSession().strings()) {
      for (int step = 0; step < STEPS; step++) {
        String key = "key-\u00e9-" + random.nextInt(KEYS);
        String value = "v" + step + "x".repeat(random.nextInt(random.nextInt(30) == 0 ? 9000 : 40));
        String at = "seed " + seed + ", step " + step;
        switch (random.nextInt(5)) {
          case 0 -> {
            session.put(key, value);
            model.put(key, value);
          }
          case 1 -> {
            session.delete(key);
            model.remove(key);
          }
          case 2 -> assertThat(session.get(key)).as(at).isEqualTo(model.get(key));
          default ->
              assertThat(session.merge(key, value, function))
                  .as(at)
                  .isEqualTo(model.merge(key, value, function));
        }
      }
      assertThat(session.serial()).isEqualTo(STEPS);
      assertThat(session.name()).isNull();
      StoreInvariants.check(store);
    }
  }

  @Test
  void noMergeIsLost() {
    byte[] key = "count".getBytes(UTF_8);
    try (FasterStore store = FasterStore.open(config())) {
      CompletableFuture.allOf(
              Stream.generate(() ->
                      CompletableFuture.runAsync(() -> {
                        try (BytesSession session = store.newSession().bytes()) {
                          for (int i = 0; i < 2_000; i++) {
                            session.merge(key, new byte[] {1}, BytesSessionTest::add);
                          }
                        }
                      }))
                  .limit(3)
                  .toArray(CompletableFuture[]::new))
          .join();
      try (BytesSession session = store.newSession().bytes()) {
        assertThat(new String(session.get(key), UTF_8)).isEqualTo("6000");
      }
    }
  }

  /** Changes the array that it receives; the store must not use that array for its comparison. */
  private static byte[] add(byte[] old, byte[] given) {
    int sum =
        (old.length == 1 && old[0] == 1 ? 1 : Integer.parseInt(new String(old, UTF_8))) + given[0];
    old[0] = 0;
    return Integer.toString(sum).getBytes(UTF_8);
  }

  @Test
  void aMergeFunctionMustReturnAValue() {
    try (FasterStore store = FasterStore.open(config());
        BytesSession session = store.newSession().bytes()) {
      byte[] key = {1};
      session.put(key, key);
      assertThatThrownBy(() -> session.merge(key, key, (old, given) -> null))
          .isInstanceOf(NullPointerException.class)
          .hasMessage("a merge function returned null");
      assertThat(session.get(key)).isEqualTo(key);
    }
  }

  @Test
  void isForSpansWithoutAMerge() {
    StoreConfig longs = config().toBuilder().recordKind(RecordKind.LONGS).build();
    try (FasterStore store = FasterStore.open(longs)) {
      assertThatThrownBy(store.newSession()::bytes)
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("recordKind=LONGS, allowed=SPANS");
      store
          .newSession()
          .mode(io.fasterkv.api.session.SessionMode.BLOCKING)
          .longs(LongFunctions.sum())
          .close();
    }
    StoreConfig merging = config().toBuilder().merge(new BytesFunctions()).build();
    try (FasterStore store = FasterStore.open(merging)) {
      assertThatThrownBy(store.newSession()::strings)
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("functions=not mergeable");
    }
  }
}
