package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.statistics.IndexStatistics;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests live scans with concurrent writers: which records they return, and how many records they
 * examine.
 */
@Tag("seeds")
class LiveScanTest {
  private static final int PAGE_BYTES = 4096;
  private static final int MEMORY_PAGES = 4;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  /**
   * Every version is a separate record here. While the scan runs, writers append as many records as
   * are in range. Memory holds 4 pages or everything.
   */
  @ParameterizedTest(name = "{0} keys, {1} pages of memory")
  @CsvSource({"1, 4", "10, 4", "1000, 4", "1, 1024", "10, 1024", "1000, 1024"})
  void looksAtAsManyRecordsAsThereAre(int keys, int pages) {
    long records = 4000;
    try (FasterStore store = FasterStore.open(appendOnly(pages, 64 << 10));
        LongSession<Void> session = sums(store)) {
      write(session, 0, records, keys);
      long before = steps(store);
      long appended = records;
      Set<Long> seen = new HashSet<>();
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        write(session, appended, appended + records / 2, keys);
        appended += records / 2;
        while (scan.next()) {
          assertThat(seen.add(scan.key().getLong(0))).isTrue();
          write(session, appended, appended + records / 2 / keys, keys);
          appended += records / 2 / keys;
        }
      }
      assertThat(seen).hasSize(keys);
      assertThat(steps(store) - before).isLessThan(12 * appended);
    }
  }

  /** The smallest table, 32 chains, is enough for the keys that have long chains here. */
  @Test
  void remembersFewChainsInTheLeastScratchMemory() {
    int keys = 10;
    StoreConfig config =
        appendOnlyBuilder(MEMORY_PAGES, 64 << 10).scratchBytes(16 * PAGE_BYTES).build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = sums(store)) {
      write(session, 0, 4000, keys);
      long before = steps(store);
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        write(session, 4000, 8000, keys);
        for (int key = 0; key < keys; key++) {
          assertThat(scan.next()).isTrue();
        }
        assertThat(scan.next()).isFalse();
      }
      assertThat(steps(store) - before).isLessThan(12 * 8000);
    }
  }

  /** Between the steps of the scan, writers update, insert and delete, and the log is compacted. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void showsTheMapAtItsStart(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int keys = new int[] {1, 10, 300}[random.nextInt(3)];
    boolean isCompacted = random.nextBoolean();
    long indexBytes = 256L << random.nextInt(10);
    Map<Long, Long> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(appendOnly(MEMORY_PAGES, indexBytes));
        LongSession<Void> session = sums(store)) {
      for (int round = 0; round < 6; round++) {
        change(session, random, model, keys, random.nextInt(2000));
        Map<Long, Long> expected = new HashMap<>(model);
        Set<Long> touched = new HashSet<>();
        Map<Long, Long> seen = new HashMap<>();
        try (LogScan scan = store.log().scan(Versions.LIVE)) {
          do {
            touched.addAll(change(session, random, model, keys, random.nextInt(60)));
            if (isCompacted && random.nextInt(50) == 0) {
              store.log().compact();
            }
          } while (isShown(scan, seen, seed));
        }
        expected.keySet().removeIf(key -> touched.contains(key) && !seen.containsKey(key));
        assertThat(seen).as("seed " + seed).isEqualTo(expected);
      }
    }
  }

  /** Records appended above hide no key, and a growing index loses none. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void showsEveryKeyWhileAllAreOverwritten(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int keys = 50;
    try (FasterStore store = FasterStore.open(appendOnly(MEMORY_PAGES, 256L << random.nextInt(6)));
        LongSession<Void> session = sums(store)) {
      write(session, 0, 3000, keys);
      Map<Long, Long> seen = new HashMap<>();
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        long appended = 3000;
        do {
          write(session, appended, appended + 200, keys);
          appended += 200;
          if (seen.size() == keys / 2) {
            store.index().grow();
          }
        } while (isShown(scan, seen, seed));
      }
      Map<Long, Long> expected = new HashMap<>();
      LongStream.range(0, 3000).forEach(number -> expected.put(number % keys, number));
      assertThat(seen).as("seed " + seed).isEqualTo(expected);
    }
  }

  private static boolean isShown(LogScan scan, Map<Long, Long> seen, long seed) {
    if (!scan.next()) {
      return false;
    }
    assertThat(seen.put(scan.key().getLong(0), scan.value().getLong(0)))
        .as("seed " + seed)
        .isNull();
    return true;
  }

  private static Set<Long> change(
      LongSession<Void> session,
      SplittableRandom random,
      Map<Long, Long> model,
      int keys,
      int changes) {
    Set<Long> touched = new HashSet<>();
    for (int i = 0; i < changes; i++) {
      long key = random.nextInt(keys);
      touched.add(key);
      if (random.nextInt(10) == 0) {
        session.delete(key, null);
        model.remove(key);
      } else {
        long value = random.nextLong();
        session.upsert(key, value, null);
        model.put(key, value);
      }
    }
    return touched;
  }

  private static void write(LongSession<Void> session, long from, long until, int keys) {
    for (long number = from; number < until; number++) {
      session.upsert(number % keys, number, null);
    }
  }

  private static long steps(FasterStore store) {
    IndexStatistics statistics = store.statistics().index();
    return statistics.recordsInMemory() + statistics.recordsFromDisk();
  }

  private static LongSession<Void> sums(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private StoreConfig appendOnly(int pages, long indexBytes) {
    return appendOnlyBuilder(pages, indexBytes).build();
  }

  private StoreConfigBuilder appendOnlyBuilder(int pages, long indexBytes) {
    return StoreConfig.builder(directory)
        .memoryBytes(8 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) pages * PAGE_BYTES)
        .indexBytes(indexBytes)
        .mutableFraction(0)
        .recordKind(RecordKind.LONGS)
        .deleteOnClose(true);
  }
}
