package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.KeyHistory;
import io.fasterkv.LogScan;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that expired records are dropped from the log, on disk and in memory, and that other
 * records stay unchanged.
 */
class ExpiryTest {
  private static final Duration TTL = Duration.ofMillis(1000);
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int KEYS = 60;
  private static final double MOST_EXPIRED = 0.2;

  @TempDir Path directory;

  private final AtomicLong now = new AtomicLong(1000);

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(TestSettings.class)
  void expiredRecordsAreDroppedFromTheLog(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ExpiringStates states = states(backend, true);
      for (int key = 0; key < 2 * KEYS; key++) {
        fill(backend, states, key);
      }
      now.addAndGet(TTL.toMillis());
      for (int key = 2 * KEYS; key < 3 * KEYS; key++) {
        fill(backend, states, key);
      }
      // Adds some expired elements again.
      for (int key = 0; key < KEYS / 4; key++) {
        append(backend, states, key);
      }
      awaitExpiredShare(backend.store());
      assertThat(backend.store().statistics().compaction().expiredBytes()).isPositive();
      check(backend, states);

      KeyedStateHandle checkpoint = TestBackends.snapshot(backend);
      FasterKeyedStateBackend<Integer> restored = backends.open(checkpoint);
      check(restored, states(restored, true));
      check(backend, states);

      FasterKeyedStateBackend<Integer> untimed = backends.open(checkpoint);
      checkLive(untimed, states(untimed, false));
    }
  }

  /** Even without writes, the passing of time causes a compaction run. */
  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void anIdleStoreDropsExpiredRecords(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ExpiringStates states = states(backend, true);
      for (int key = 0; key < 2 * KEYS; key++) {
        fill(backend, states, key);
        now.addAndGet(5);
      }
      FasterStore store = backend.store();
      long before = store.statistics().logBytes();
      now.addAndGet(TTL.toMillis());
      long start = System.nanoTime();
      while (store.statistics().logBytes() > before / 2) {
        assertThat(System.nanoTime() - start)
            .as(() ->
                "log " + store.statistics().logBytes() + ", " + store.statistics().compaction())
            .isLessThan(PATIENCE.toNanos());
        Thread.onSpinWait();
      }
      for (int key = 0; key < 2 * KEYS; key++) {
        backend.setCurrentKey(key);
        assertThat(states.values.value()).isNull();
        assertThat(states.lists.get()).isEmpty();
        assertThat(states.maps.entries()).isEmpty();
      }
    }
  }

  /** Works without compaction: accesses to some keys clean up the whole state. */
  @ParameterizedTest
  @EnumSource(names = {"TINY", "ROOMY"})
  void accessesCleanUpEntryByEntry(TestSettings settings) throws Exception {
    StateTtlConfig ttl =
        StateTtlConfig.newBuilder(TTL)
            .cleanupIncrementally(10, false)
            .disableCleanupInBackground()
            .build();
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ExpiringStates states = new ExpiringStates(backend, ttl);
      for (int key = 0; key < 2 * KEYS; key += 2) {
        fill(backend, states, key);
      }
      assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * KEYS);
      now.addAndGet(TTL.toMillis() / 2);
      backend.setCurrentKey(10);
      states.values.update("live");
      states.maps.put(7, "live");
      now.addAndGet(TTL.toMillis() / 2);
      backend.setCurrentKey(-1);
      for (int access = 0; access < 10_000; access++) {
        states.values.value();
        states.lists.get();
        states.maps.get(1);
      }
      assertThat(backend.numKeyValueStateEntries()).isEqualTo(2);
      backend.setCurrentKey(10);
      assertThat(states.values.value()).isEqualTo("live");
      assertThat(entries(states)).isEqualTo(Map.of(7, "live"));
    }
  }

  private static ExpiringStates states(FasterKeyedStateBackend<Integer> backend, boolean isTimed)
      throws Exception {
    return new ExpiringStates(
        backend, isTimed ? StateTtlConfig.newBuilder(TTL).build() : StateTtlConfig.DISABLED);
  }

  private static void awaitExpiredShare(FasterStore store) {
    long start = System.nanoTime();
    while (true) {
      double share = expiredShare(store);
      if (share <= MOST_EXPIRED) {
        return;
      }
      assertThat(System.nanoTime() - start)
          .as(() ->
              "expired share "
                  + share
                  + ", log "
                  + store.statistics().logBytes()
                  + ", "
                  + store.statistics().compaction())
          .isLessThan(PATIENCE.toNanos());
    }
  }

  /** The share of the log's bytes in records, including dead ones, whose contents are not live. */
  private static double expiredShare(FasterStore store) {
    KeepRule rule = Objects.requireNonNull(store.config().keepRule());
    long bytes = 0;
    try (LogScan scan = store.log().scan(Versions.ALL)) {
      while (scan.next()) {
        if (!scan.isTombstone() && !rule.keeps(scan.key(), scan.value(), found(store))) {
          bytes += 24 + scan.key().length() + scan.value().length();
        }
      }
    }
    return (double) bytes / store.statistics().logBytes();
  }

  private static KeepRule.Lookup found(FasterStore store) {
    return key -> {
      try (KeyHistory history = store.log().history(key)) {
        return history.next() && !history.isTombstone()
            ? ByteSpan.of(history.value().toArray())
            : null;
      }
    };
  }

  /** Writes values of one or several records, and lists and maps, inline or not. */
  private void fill(FasterKeyedStateBackend<Integer> backend, ExpiringStates states, int key)
      throws Exception {
    backend.setCurrentKey(key);
    states.values.update(value(key));
    states.lists.addAll(list(key));
    states.maps.putAll(map(key));
  }

  private void append(FasterKeyedStateBackend<Integer> backend, ExpiringStates states, int key)
      throws Exception {
    backend.setCurrentKey(key);
    states.values.update(value(key));
    states.lists.add("new");
    states.maps.put(-1, "new");
  }

  private void check(FasterKeyedStateBackend<Integer> backend, ExpiringStates states)
      throws Exception {
    checkLive(backend, states);
    for (int key = 0; key < 2 * KEYS; key++) {
      backend.setCurrentKey(key);
      boolean isBack = key < KEYS / 4;
      assertThat(states.values.value()).isEqualTo(isBack ? value(key) : null);
      assertThat(states.lists.get()).containsExactlyElementsOf(isBack ? List.of("new") : List.of());
      assertThat(entries(states)).isEqualTo(isBack ? Map.of(-1, "new") : Map.of());
    }
  }

  private void checkLive(FasterKeyedStateBackend<Integer> backend, ExpiringStates states)
      throws Exception {
    for (int key = 2 * KEYS; key < 3 * KEYS; key++) {
      backend.setCurrentKey(key);
      assertThat(states.values.value()).isEqualTo(value(key));
      assertThat(states.lists.get()).containsExactlyElementsOf(list(key));
      assertThat(entries(states)).isEqualTo(map(key));
      assertThat(states.maps.isEmpty()).isFalse();
    }
  }

  private static Map<Integer, String> entries(ExpiringStates states) throws Exception {
    Map<Integer, String> entries = new HashMap<>();
    states.maps.entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
    return entries;
  }

  private static String value(int key) {
    return "v".repeat(key % 3 == 0 ? 7000 + key : 30 + key);
  }

  private static List<String> list(int key) {
    List<String> list = new ArrayList<>();
    for (int i = 0; i < (key % 2 == 0 ? 3 : 200); i++) {
      list.add("e".repeat(i % 50 == 49 ? 5000 : 20 + i) + i);
    }
    return list;
  }

  private static Map<Integer, String> map(int key) {
    Map<Integer, String> map = new HashMap<>();
    for (int i = 0; i < (key % 2 == 1 ? 3 : 200); i++) {
      map.put(i, "m".repeat(i % 50 == 1 ? 4000 : 20 + i) + key);
    }
    return map;
  }
}
