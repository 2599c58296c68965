package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.LogScan;
import io.fasterkv.api.Versions;
import io.fasterkv.flink.TestSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests lists and maps that receive new entries all the time while old ones expire. Each entry
 * contains its time, so the test can count expired entries in the log independently of the backend.
 */
class ContinuousExpiryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long STEP_MILLIS = 10;
  private static final int LIVE_ROUNDS = 8;
  private static final Duration TTL = Duration.ofMillis(LIVE_ROUNDS * STEP_MILLIS);
  private static final double MOST_EXPIRED = 0.2;
  private static final String PADDING = "-".repeat(40);
  private static final Pattern ENTRY = Pattern.compile("<(\\d{13})" + PADDING + ">");
  private static final int ENTRY_BYTES = 13 + 2 + PADDING.length();

  @TempDir Path directory;

  private final AtomicLong now = new AtomicLong(1_700_000_000_000L);

  private String entry(long millis) {
    return "<" + millis + PADDING + ">";
  }

  /** Writers remove expired entries of their own key; compaction removes those of other keys. */
  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void expiredEntriesAmongLiveOnesAreDropped(TestSettings settings) throws Exception {
    int keys = 1500;
    int rounds = 5 * LIVE_ROUNDS;
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ExpiringStates states = states(backend);
      for (int round = 0; round < rounds; round++) {
        roll(backend, states, keys, round);
      }
      await(backend.store());
      check(backend, states, keys, rounds);

      // Half of the live entries expire, and there are no writes.
      now.addAndGet(TTL.toMillis() / 2);
      await(backend.store());
      check(backend, states, keys, rounds);
    }
  }

  private void roll(
      FasterKeyedStateBackend<Integer> backend, ExpiringStates states, int keys, int round)
      throws Exception {
    now.addAndGet(STEP_MILLIS);
    for (int key = 0; key < keys; key++) {
      backend.setCurrentKey(key);
      states.maps.put(round, entry(now.get()));
      if (key % 4 == 0) {
        states.lists.add(entry(now.get()));
      }
    }
  }

  private void check(
      FasterKeyedStateBackend<Integer> backend, ExpiringStates states, int keys, int rounds)
      throws Exception {
    long last = now.get();
    Map<Integer, String> entries = new TreeMap<>();
    for (int key = 0; key < keys; key += 13) {
      backend.setCurrentKey(key);
      entries.clear();
      states.maps.entries().forEach(each -> entries.put(each.getKey(), each.getValue()));
      List<String> alive =
          entries.values().stream().filter(entry -> isAlive(millis(entry), last)).toList();
      assertThat(alive).as("key " + key).hasSameSizeAs(entries.values());
      if (key % 4 == 0) {
        assertThat(states.lists.get()).containsExactlyElementsOf(entries.values());
      }
      assertThat(entries.keySet())
          .containsExactlyElementsOf(
              IntStream.range(rounds - entries.size(), rounds).boxed().toList());
      assertThat(entries).hasSizeBetween(LIVE_ROUNDS / 2 - 1, LIVE_ROUNDS);
    }
  }

  /** One map in memory, where compaction never runs, receives new entries all the time. */
  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "ROOMY_INCREMENTAL", "TINY"})
  void aMapThatIsWrittenAllTheTimeDoesNotGrow(TestSettings settings) throws Exception {
    int atOnce = 500;
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      // Disables Flink's own cleanup, which would clean this one key at each access.
      ExpiringStates states =
          new ExpiringStates(
              backend,
              StateTtlConfig.newBuilder(TTL)
                  .disableCleanupInBackground()
                  .cleanupInRocksdbCompactFilter(1000, TTL)
                  .build());
      backend.setCurrentKey(1);
      for (int put = 0; put < 100 * atOnce; put++) {
        if (put % atOnce == 0) {
          now.addAndGet(TTL.toMillis());
        }
        states.maps.put(put, entry(now.get()));
      }
      // Counts entries before listing the map, which would remove expired ones.
      assertThat(states.maps.contains(0)).isFalse();
      long[] found = entriesInLog(backend.store());
      // Buckets are split in order, and cleaned when they are full.
      assertThat(found[0] + found[1]).isBetween((long) atOnce, 8L * atOnce);
      IntStream last = IntStream.range(99 * atOnce, 100 * atOnce);
      assertThat(states.maps.keys()).containsExactlyInAnyOrderElementsOf(last.boxed().toList());
    }
  }

  /** Not even the heads of keys that are not used again stay in the log, except in memory. */
  @ParameterizedTest
  @EnumSource(names = "TINY_INCREMENTAL")
  @Tag("long")
  void nothingStaysOfKeysThatAreNotUsedAgain(TestSettings settings) throws Exception {
    int keys = 6000;
    try (TestBackends backends = new TestBackends(settings, directory)) {
      backends.useTime(now::get);
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ExpiringStates states = states(backend);
      for (int key = 0; key < keys; key++) {
        backend.setCurrentKey(key);
        for (int i = 0; i < 40; i++) {
          states.lists.add(entry(now.get()));
          states.maps.put(i, entry(now.get()));
        }
      }
      now.addAndGet(TTL.toMillis());
      FasterStore store = backend.store();
      // Compaction leaves records that are only in memory. The heads alone would take as many
      // bytes.
      long inMemory = store.config().logMemoryBytes();
      await(() -> store.statistics().logBytes() < inMemory * 5 / 4, store);

      for (int key = 0; key < keys; key += 7) {
        backend.setCurrentKey(key);
        assertThat(states.lists.get()).isEmpty();
        assertThat(states.maps.keys()).isEmpty();
        states.lists.add("again");
        states.maps.put(1, "again");
        assertThat(states.lists.get()).containsExactly("again");
        assertThat(states.maps.get(1)).isEqualTo("again");
      }
    }
  }

  private static ExpiringStates states(FasterKeyedStateBackend<Integer> backend) throws Exception {
    return new ExpiringStates(backend, StateTtlConfig.newBuilder(TTL).build());
  }

  private void await(FasterStore store) {
    await(
        () -> ENTRY_BYTES * entriesInLog(store)[1] <= MOST_EXPIRED * store.statistics().logBytes(),
        store);
  }

  private void await(BooleanSupplier isSo, FasterStore store) {
    long start = System.nanoTime();
    while (!isSo.getAsBoolean()) {
      assertThat(System.nanoTime() - start)
          .as(() ->
              "log "
                  + store.statistics().logBytes()
                  + ", expired "
                  + ENTRY_BYTES * entriesInLog(store)[1]
                  + ", "
                  + store.statistics().compaction())
          .isLessThan(PATIENCE.toNanos());
    }
  }

  /** Number of live and of expired entries in live records. */
  private long[] entriesInLog(FasterStore store) {
    long[] found = new long[2];
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        if (!scan.isTombstone()) {
          String value = new String(scan.value().toArray(), StandardCharsets.ISO_8859_1);
          Matcher matcher = ENTRY.matcher(value);
          while (matcher.find()) {
            found[isAlive(Long.parseLong(matcher.group(1)), now.get()) ? 0 : 1]++;
          }
        }
      }
    }
    return found;
  }

  private static long millis(String entry) {
    return Long.parseLong(entry.substring(1, 14));
  }

  private static boolean isAlive(long millis, long moment) {
    return millis + TTL.toMillis() > moment;
  }
}
