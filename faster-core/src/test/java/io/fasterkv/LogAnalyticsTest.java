package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException.Truncated;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests scans of any range, histories of keys, and followers, against a plain map and each other,
 * on a log of 4 KiB pages of which a handful are in memory. {@code -Dfaster.seed=N} replays a seed.
 */
@Tag("seeds")
class LogAnalyticsTest {
  private static final int STEPS = 6_000;
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  /** One record as a scan shows it. */
  private record Seen(int key, long address, boolean isTombstone, ByteBuffer value) {
    static Seen of(LogScan scan) {
      return new Seen(
          number(scan.key()),
          scan.address(),
          scan.isTombstone(),
          ByteBuffer.wrap(scan.value().toArray()));
    }
  }

  private static int number(ByteSpan key) {
    return ByteBuffer.wrap(key.toArray()).getInt();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void scansAndHistoriesAgreeWithAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(random));
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(600)) {
          case 0 -> driver.checkLive();
          case 1 -> checkParts(store, random, seed);
          case 2 -> checkHistories(store, seed);
          case 3 -> store.log().compact();
          case 4 -> store.log().cut().close();
          default -> driver.operation();
        }
      }
      driver.checkLive();
      checkParts(store, random, seed);
      checkHistories(store, seed);
    }
  }

  /** Any two addresses select the records between them; a scan makes nothing read-only. */
  private static void checkParts(FasterStore store, SplittableRandom random, long seed) {
    long readOnly = Insides.engine(store).log().regions().inPlaceFrom();
    List<Seen> all = scan(store, 0, Long.MAX_VALUE);
    long from = random.nextLong(store.log().beginAddress(), store.log().tailAddress() + 1);
    long until = random.nextLong(from, store.log().tailAddress() + 1);
    List<Seen> expected =
        all.stream().filter(seen -> seen.address >= from && seen.address < until).toList();
    assertThat(scan(store, from, until)).as("seed " + seed).isEqualTo(expected);
    assertThat(Insides.engine(store).log().regions().inPlaceFrom())
        .as("seed " + seed)
        .isEqualTo(readOnly);
  }

  private static List<Seen> scan(FasterStore store, long from, long until) {
    List<Seen> all = new ArrayList<>();
    try (LogScan scan = store.log().scan(from, until, Versions.ALL)) {
      while (scan.next()) {
        all.add(Seen.of(scan));
      }
    }
    return all;
  }

  /**
   * Without compaction, a key's history is the records of the key in a full scan, in reverse order.
   */
  private static void checkHistories(FasterStore store, long seed) {
    Map<Integer, List<Seen>> byKey = new HashMap<>();
    for (Seen seen : scan(store, 0, Long.MAX_VALUE)) {
      byKey.computeIfAbsent(seen.key, key -> new ArrayList<>()).addFirst(seen);
    }
    byKey.forEach((key, versions) -> {
      List<Seen> history = new ArrayList<>();
      try (KeyHistory walk = store.log().history(ModelDriver.key(key))) {
        while (walk.next()) {
          history.add(
              new Seen(
                  key,
                  walk.address(),
                  walk.isTombstone(),
                  ByteBuffer.wrap(walk.value().toArray())));
        }
      }
      Seen newest = versions.getFirst();
      assertThat(versions)
          .as("seed " + seed + ", key " + key)
          .containsAll(history.stream().filter(seen -> !seen.isTombstone).toList());
      if (!newest.isTombstone) {
        assertThat(history.getFirst()).as("seed " + seed + ", key " + key).isEqualTo(newest);
      }
      assertThat(history)
          .as("seed " + seed)
          .isSortedAccordingTo((left, right) -> Long.compare(right.address, left.address));
    });
  }

  /** A version stays in every history until compaction drops it. */
  @Test
  void aHistoryHasEveryVersionOfAnAppendOnlyLog() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(4 * PAGE_BYTES)
            .indexBytes(256)
            .mutableFraction(0)
            .recordKind(RecordKind.LONGS)
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int round = 1; round <= 30; round++) {
        for (long key = 0; key < 50; key++) {
          session.upsert(key, round * 1000 + key, null);
        }
      }
      session.delete(7, null);
      for (long key = 0; key < 50; key++) {
        List<Long> values = new ArrayList<>();
        try (KeyHistory history = store.log().history(key)) {
          if (key == 7) {
            assertThat(history.next()).isTrue();
            assertThat(history.isTombstone()).isTrue();
          }
          while (history.next()) {
            assertThat(history.isTombstone()).isFalse();
            values.add(history.value().getLong(0));
          }
        }
        long number = key;
        assertThat(values)
            .isEqualTo(
                LongStream.rangeClosed(1, 30).map(r -> (31 - r) * 1000 + number).boxed().toList());
      }
    }
  }

  /**
   * Unchanged keys exactly once, changed keys at most once, and values whole, during all kinds of
   * changes.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aLiveScanSeesEachUntouchedKeyOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int keys = 300;
    VersionedFunctions functions = new VersionedFunctions(100);
    try (FasterStore store = FasterStore.open(config(random, 32 << 10))) {
      try (var session = store.newSession().spans(functions)) {
        for (long key = 0; key < keys; key++) {
          session.upsert(key(key), functions.value(key, 1), null);
        }
      }
      Crew crew = new Crew("seed " + seed, () -> Insides.marks(store));
      crew.add(() -> touch(store, functions, new SplittableRandom(seed + 1), keys));
      crew.add(() -> {
        for (int round = 0; round < 10; round++) {
          checkScan(store, functions, keys);
        }
      });
      crew.run();
    }
  }

  /** Updates, deletes and inserts odd keys, and sometimes compacts. */
  private static void touch(
      FasterStore store, VersionedFunctions functions, SplittableRandom random, int keys) {
    try (var session = store.newSession().spans(functions)) {
      for (long version = 2; version < 10_000; version++) {
        long key = 2L * random.nextInt(keys / 2) + 1;
        if (random.nextInt(4) == 0) {
          session.delete(key(key), null);
        } else {
          session.upsert(key(key), functions.value(key, version), null);
        }
        if (version % 1000 == 0) {
          store.log().compact();
        }
      }
    }
  }

  private static void checkScan(FasterStore store, VersionedFunctions functions, int keys) {
    Set<Long> seen = new HashSet<>();
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        long key = VersionedFunctions.number(scan.key());
        functions.check(key, scan.value());
        assertThat(seen.add(key)).as("key " + key + " is seen once").isTrue();
      }
    }
    for (long key = 0; key < keys; key += 2) {
      assertThat(seen).contains(key);
    }
  }

  /** A follower returns every record once, in order, and in the end the whole log. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aFollowerReadsRecordsThatBecomeReadOnly(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    List<Seen> followed = new ArrayList<>();
    try (FasterStore store = FasterStore.open(config(random));
        LogFollower follower = store.log().follow(store.log().beginAddress());
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
      for (int step = 0; step < STEPS; step++) {
        driver.operation();
        if (random.nextInt(100) == 0) {
          store.log().cut().close();
        }
        if (random.nextInt(20) == 0) {
          drain(follower, followed);
        }
      }
      try (LogCut cut = store.log().cut();
          LogScan scan = cut.scan()) {
        drain(follower, followed);
        List<Seen> all = new ArrayList<>();
        while (scan.next()) {
          all.add(Seen.of(scan));
        }
        assertThat(followed).as("seed " + seed).isEqualTo(all);
      }
      assertThat(follower.next()).isFalse();
    }
  }

  private static void drain(LogFollower follower, List<Seen> into) {
    while (follower.next()) {
      into.add(
          new Seen(
              number(follower.key()),
              follower.address(),
              follower.isTombstone(),
              ByteBuffer.wrap(follower.value().toArray())));
    }
  }

  /** The key's record is marked in place, and the log has no other record of the key. */
  @Test
  void aResumedFollowerSeesDeletesOfRecordsReadBefore() {
    Map<Integer, byte[]> model = new HashMap<>();
    SplittableRandom random = new SplittableRandom(1);
    try (FasterStore store = FasterStore.open(mutable());
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, 1);
        var session = store.newSession().spans(new BytesFunctions())) {
      driver.upsertAll();
      Map<Integer, byte[]> read = new HashMap<>();
      long position = readOn(store, store.log().beginAddress(), read, new Turn(true));
      assertThat(read).containsOnlyKeys(model.keySet());
      session.upsert(ModelDriver.key(7), ByteSpan.of(new byte[100]), null);
      session.upsert(ModelDriver.key(8), ByteSpan.of(new byte[100]), null);
      // A cut waits until no thread changes records below it, but does not wait for the disk.
      Insides.engine(store).log().room().awaitFlushed(position);
      store.log().compact(position);
      assertThat(store.log().beginAddress()).isGreaterThan(64).isLessThanOrEqualTo(position);
      session.delete(ModelDriver.key(7), null);
      session.delete(ModelDriver.key(8), null);
      Map<Integer, byte[]> other = new HashMap<>(read);
      assertThat(readOn(store, position, read, new Turn(true)))
          .isEqualTo(store.log().tailAddress());
      assertThat(readOn(store, position, other, new Turn(false)))
          .isEqualTo(store.log().tailAddress());
      assertThat(read).doesNotContainKeys(7, 8).hasSize(ModelDriver.KEYS - 2);
      assertThat(other.keySet()).isEqualTo(read.keySet());
    }
  }

  /**
   * Each reader continues where the last one ended, while compaction drops the records that were
   * read.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void consecutiveReadersSeeTheStoresContents(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    Map<Integer, byte[]> read = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(random));
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
      long position = store.log().beginAddress();
      for (int turn = 0; turn < 60; turn++) {
        driver.someOperations(random.nextInt(200));
        position = readOn(store, position, read, new Turn(random.nextBoolean()));
        assertThat(read.keySet()).as("seed " + seed + ", turn " + turn).isEqualTo(model.keySet());
        driver.someOperations(random.nextInt(100));
        if (random.nextBoolean()) {
          store.log().compact(position);
        }
      }
      position = readOn(store, position, read, new Turn(true));
      assertThat(read.keySet()).as("seed " + seed).isEqualTo(model.keySet());
      read.forEach((key, value) -> assertThat(value).as("seed " + seed).isEqualTo(model.get(key)));
    }
  }

  /** A way to read a part of the log. */
  private record Turn(boolean isFollower) {}

  /** Reads everything from a position on, and returns the end. */
  private static long readOn(
      FasterStore store, long position, Map<Integer, byte[]> into, Turn turn) {
    try (LogCut cut = store.log().cut()) {
      if (turn.isFollower) {
        try (LogFollower follower = store.log().follow(position)) {
          while (follower.next()) {
            take(follower.key(), follower.value(), follower.isTombstone(), into);
          }
          return follower.position();
        }
      }
      long end = store.log().tailAddress();
      try (LogScan scan = store.log().scan(position, end, Versions.ALL)) {
        while (scan.next()) {
          take(scan.key(), scan.value(), scan.isTombstone(), into);
        }
      }
      return end;
    }
  }

  private static void take(
      ByteSpan key, ByteSpan value, boolean isTombstone, Map<Integer, byte[]> into) {
    if (isTombstone) {
      into.remove(number(key));
    } else {
      into.put(number(key), value.toArray());
    }
  }

  private StoreConfig mutable() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(64 * PAGE_BYTES)
        .indexBytes(32 << 10)
        .mutableFraction(0.9)
        .deleteOnClose(true)
        .build();
  }

  @Test
  void aFollowerThatWasOvertakenSaysSo() {
    Map<Integer, byte[]> model = new HashMap<>();
    SplittableRandom random = new SplittableRandom(1);
    try (FasterStore store = FasterStore.open(config(random));
        LogFollower follower = store.log().follow(store.log().beginAddress());
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, 1)) {
      for (int round = 0; round < 5; round++) {
        driver.upsertAll();
        store.log().cut().close();
      }
      store.log().compact();
      long gone = store.log().beginAddress() - follower.position();
      assertThat(gone).isPositive();
      assertThatThrownBy(follower::next)
          .isInstanceOf(Truncated.class)
          .hasMessageContaining("position=64")
          .hasMessageContaining("skipTruncated");
      assertThat(follower.skipTruncated()).isEqualTo(gone);
      assertThat(follower.next()).isTrue();
      assertThat(follower.address()).isGreaterThanOrEqualTo(store.log().beginAddress());
    }
  }

  private static ByteSpan key(long key) {
    return ByteSpan.of(ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(key).array());
  }

  private StoreConfig config(SplittableRandom random) {
    return config(random, 64L << random.nextInt(2, 9));
  }

  private StoreConfig config(SplittableRandom random, long indexBytes) {
    double[] fractions = {0, 0.25, 0.5, 0.9};
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 5))
        .indexBytes(indexBytes)
        .segmentBytes(64 * PAGE_BYTES)
        .mutableFraction(fractions[random.nextInt(fractions.length)])
        .deleteOnClose(true)
        .build();
  }
}
