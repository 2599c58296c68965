package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests threads that count with mergeable functions while the read-only address moves all the time,
 * pages are evicted and the log is compacted: each acknowledged update counts once. The seed is in
 * the test's name.
 */
@Tag("seeds")
class MergeCounterTest {
  private static final int THREADS = 3;
  private static final int OPERATIONS = 15_000;
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfigBuilder config() {
    return StoreConfig.builder(directory)
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8 * PAGE_BYTES)
        .indexBytes(512)
        .segmentBytes(4 * PAGE_BYTES)
        .scratchBytes(1 << 20)
        .mutableFraction(0.5)
        .deleteOnClose(true);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyLongIncrementCountsOnce(long seed) {
    String wrong = countLongs(seed, LongFunctions.sum());
    assertThat(wrong).as("seed " + seed).isEmpty();
  }

  /** The check above detects a merge that counts the older part twice. */
  @Tag("slow")
  @Test
  void aPartThatCountsTwiceIsSeen() {
    for (long seed = 1; seed <= 20; seed++) {
      if (!countLongs(seed, new DoubleCount()).isEmpty()) {
        return;
      }
    }
    Assertions.fail("a merge that counts parts twice was not seen");
  }

  /**
   * Broken on purpose for this test: a value after a delta was merged with a base that already
   * includes it.
   */
  private static final class DoubleCount implements MergeableLongFunctions<Object> {
    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      return oldValue + input;
    }

    @Override
    public long merge(long key, long older, long newer) {
      return older + 2 * newer;
    }
  }

  /** Returns the final errors, empty if there are none. */
  private String countLongs(long seed, MergeableLongFunctions<Object> functions) {
    SplittableRandom random = new SplittableRandom(seed);
    int keys = random.nextBoolean() ? 5 : 3000;
    AtomicLongArray counted = new AtomicLongArray(keys);
    StoreConfig config = config().recordKind(RecordKind.LONGS).merge(functions).build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Crew crew = new Crew("seed " + seed, () -> Insides.marks(store));
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom dice = random.split();
        crew.add(() -> {
          try (var session = store.newSession().longs(functions)) {
            for (int i = 0; i < OPERATIONS && !crew.isOver(); i++) {
              int key = dice.nextInt(keys);
              session.rmw(key, 1, null);
              counted.incrementAndGet(key);
              if (i % 64 == 0) {
                session.read(key, null);
              }
            }
          }
          crew.end();
        });
      }
      crew.add(() -> keepHouse(crew, store, random.split()));
      crew.run();
      StringBuilder wrong = new StringBuilder();
      try (var session = store.newSession().longs(functions)) {
        for (int key = 0; key < keys; key++) {
          session.read(key, null);
          if (session.value() != counted.get(key)) {
            wrong.append(key).append(": ").append(session.value()).append(" instead of ");
            wrong.append(counted.get(key)).append("; ");
          }
        }
      }
      StoreInvariants.check(store);
      return wrong.toString();
    }
  }

  private static void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
    while (!crew.isOver()) {
      if (dice.nextInt(8) == 0) {
        store.log().compact();
      } else {
        store.log().cut().close();
      }
    }
  }

  /**
   * Spans: each thread appends its own letter in order; no letter is lost, doubled or out of order.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyAppendCountsOnceAndInOrder(long seed) {
    int keys = 200;
    int perKey = 40;
    StoreConfig config = config().merge(new BytesFunctions()).build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      Crew crew = new Crew("seed " + seed, () -> Insides.marks(store));
      for (int thread = 0; thread < THREADS; thread++) {
        int own = thread;
        crew.add(() -> {
          try (var session = store.newSession().spans(new BytesFunctions())) {
            for (int i = 0; i < keys * perKey; i++) {
              byte[] input = {(byte) (own * 64 + i / keys)};
              session.rmw(key(i % keys), input, null);
            }
          }
          crew.end();
        });
      }
      SplittableRandom dice = new SplittableRandom(seed);
      crew.add(() -> keepHouse(crew, store, dice));
      crew.run();
      try (var session = store.newSession().spans(new BytesFunctions())) {
        for (int key = 0; key < keys; key++) {
          BytesFunctions.Result result = new BytesFunctions.Result();
          assertThat(session.read(key(key), null, result, null)).isEqualTo(Status.FOUND);
          assertThat(result.value).as("seed " + seed).hasSize(THREADS * perKey);
          int[] next = new int[THREADS];
          for (byte b : result.value) {
            int letter = Byte.toUnsignedInt(b);
            assertThat(letter % 64).as("seed " + seed).isEqualTo(next[letter / 64]++);
          }
        }
      }
    }
  }

  private static ByteSpan key(int key) {
    return ByteSpan.of(new byte[] {(byte) key, (byte) (key >> 8), 1});
  }

  /**
   * A store that contains deltas but is opened without a merge reports that, and never takes a
   * delta for the value.
   */
  @Test
  void aStoreWithoutItsMergeRefusesDeltas() {
    MemoryDevice device = new MemoryDevice();
    StoreConfigBuilder builder = config().deleteOnClose(false).recordKind(RecordKind.LONGS);
    StoreConfig without = builder.build();
    try (FasterStore store = FasterStore.open(builder.merge(LongFunctions.sum()).build(), device);
        var session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < 3000; key++) {
        session.upsert(key, 1, null);
      }
      int appended = 0;
      for (int key = 0; key < 100; key++) {
        appended += session.rmw(key, 1, null) == Status.DELTA_APPENDED ? 1 : 0;
      }
      assertThat(appended).isGreaterThan(50);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(without, new CheckpointToken(1), device);
        var session = store.newSession().longs(LongFunctions.sum())) {
      int refused = 0;
      for (int key = 0; key < 100; key++) {
        try {
          session.read(key, null);
          assertThat(session.value()).isEqualTo(2);
        } catch (BadConfig e) {
          assertThat(e).hasMessageContaining("merge=null");
          refused++;
        }
      }
      assertThat(refused).isGreaterThan(50);
    }
  }

  /** Functions that cannot be merged would take a delta for the value. */
  @Test
  void aSessionThatCannotMergeIsRefused() {
    StoreConfig config = config().recordKind(RecordKind.LONGS).merge(LongFunctions.sum()).build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
      LongFunctions<Object> plain =
          new LongFunctions<>() {
            @Override
            public long initialUpdater(long key, long input) {
              return input;
            }

            @Override
            public long updater(long key, long input, long oldValue) {
              return input;
            }
          };
      Assertions.assertThatThrownBy(() -> store.newSession().longs(plain))
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("MergeableLongFunctions");
    }
  }

  /** One hot key, evicted or made fuzzy after each update: its chain of deltas stays short. */
  @Test
  void chainsStayShortUnderEndlessUpdatesWithoutReads() {
    StoreConfig config =
        config()
            .indexBytes(1 << 18)
            .recordKind(RecordKind.LONGS)
            .merge(LongFunctions.sum())
            .build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        var session = store.newSession().longs(LongFunctions.sum())) {
      long sum = 0;
      long chains = 0;
      int longest = 0;
      int rounds = 600;
      for (int round = 0; round < rounds; round++) {
        session.rmw(1, 1, null);
        sum++;
        // More than all of the memory, so that the hot key's record is on disk.
        for (int filler = 0; filler < 8 * PAGE_BYTES / 24; filler++) {
          session.upsert(1000 + filler, 0, null);
        }
        int length = deltas(store, 1);
        chains += length;
        longest = Math.max(longest, length);
      }
      session.read(1, null);
      assertThat(session.value()).isEqualTo(sum);
      assertThat(deltas(store, 1)).isLessThanOrEqualTo(8);
      // One in eight appends writes the whole value: a chain of 160 has a probability of (7/8)^160.
      assertThat(longest).isBetween(2, 160);
      assertThat(chains / rounds).isLessThan(24);
    }
  }

  private static int deltas(FasterStore store, long key) {
    int deltas = 0;
    try (KeyHistory history = store.log().history(key)) {
      while (history.next() && history.isDelta()) {
        deltas++;
      }
    }
    return deltas;
  }
}
