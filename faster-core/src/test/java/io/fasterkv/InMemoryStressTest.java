package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests several threads on a store without a device that is always short of memory: pages are
 * frozen, compacted and cleared during every operation, including the fast path of longs. A lost,
 * torn, stale, misplaced or resurrected value is an error, and so is a hang. The seed is in the
 * test's name.
 */
@Tag("seeds")
class InMemoryStressTest {
  private static final int WRITERS = 3;
  private static final int PAGE_BYTES = 4096;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private static StoreConfigBuilder config(int pages) {
    return StoreConfig.inMemory()
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .scratchBytes(600 << 10)
        .logMemoryBytes((long) pages * PAGE_BYTES);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noReadIsWrong(long seed) {
    new OwnedKeys(seed).go();
  }

  /**
   * Each key has one writer; all threads read all keys; one thread cuts, scans, compacts and
   * resizes.
   */
  private static final class OwnedKeys {
    private static final int OPERATIONS = 20_000;
    private static final int MAX_DOUBLINGS = 3;
    private final SplittableRandom random;
    private final StoreConfig config;
    private final SessionMode mode;
    private final int maxPadding;
    private final VersionedKeys keys;
    private final String title;

    OwnedKeys(long seed) {
      random = new SplittableRandom(seed);
      maxPadding = random.nextBoolean() ? 40 : 700;
      keys = new VersionedKeys(random.nextBoolean() ? 6 : 60);
      config =
          config(maxPadding == 40 ? 8 : 32)
              .indexBytes(Math.max(256, 64L << random.nextInt(2, 8)))
              .recordKind(random.nextInt(3) == 0 ? RecordKind.LONGS : RecordKind.SPANS)
              .backgroundCompaction(random.nextBoolean())
              .build();
      mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      title = "seed " + seed + ", " + mode + ", " + config;
    }

    void go() {
      try (FasterStore store = FasterStore.open(config)) {
        Crew crew =
            new Crew(title, () -> Insides.marks(store) + ", " + Insides.engine(store).log().room());
        for (int writer = 0; writer < WRITERS; writer++) {
          SplittableRandom dice = random.split();
          int own = writer;
          crew.add(() -> work(crew, store, own, dice));
        }
        SplittableRandom dice = random.split();
        crew.add(() -> keepHouse(crew, store, dice));
        crew.run();
        try (VersionedSession session = VersionedSession.open(store, mode, maxPadding)) {
          for (int key = 0; key < keys.count(); key++) {
            read(session, key);
          }
          session.completePending();
        }
        if (!config.backgroundCompaction()) {
          StoreInvariants.check(store);
        }
      }
    }

    private void work(Crew crew, FasterStore store, int own, SplittableRandom dice) {
      try (VersionedSession session = VersionedSession.open(store, mode, maxPadding)) {
        for (int i = 0; i < OPERATIONS && !crew.isOver(); i++) {
          int key = dice.nextInt(4) == 0 ? 0 : dice.nextInt(keys.count());
          if (key % WRITERS == own && dice.nextInt(3) > 0) {
            write(crew, session, key, dice.nextInt(8));
          } else {
            read(session, key);
          }
        }
        session.completePending();
      }
      crew.end();
    }

    private void write(Crew crew, VersionedSession session, int key, int dice) {
      long version = keys.begin(key, dice == 0);
      while (!tryWrite(session, key, version, dice)) {
        // A cut pins all pages: another thread closes it.
        if (crew.isOver()) {
          return;
        }
        Thread.onSpinWait();
      }
      keys.end(key, version);
    }

    private static boolean tryWrite(VersionedSession session, int key, long version, int dice) {
      try {
        switch (dice) {
          case 0 -> session.delete(key);
          case 1, 2 -> session.upsert(key, version);
          default -> session.rmw(key, version);
        }
        return true;
      } catch (OutOfBudget e) {
        return false;
      }
    }

    private void read(VersionedSession session, int key) {
      long before = keys.ended(key);
      session.read(key, version -> keys.check(key, version, before));
    }

    private void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
      VersionedFunctions functions = new VersionedFunctions(maxPadding);
      int doublings = 0;
      while (!crew.isOver()) {
        switch (dice.nextInt(6)) {
          case 0 -> store.log().cut().close();
          case 1 -> keys.checkScan(store, functions, config.recordKind());
          case 2, 3 -> {
            boolean grow = doublings == 0 || (doublings < MAX_DOUBLINGS && dice.nextBoolean());
            doublings += resize(store, grow);
          }
          case 4 -> drainHistory(store, dice.nextInt(keys.count()));
          default -> store.log().compact();
        }
      }
    }

    private static int resize(FasterStore store, boolean grow) {
      try {
        if (grow) {
          store.index().grow();
        } else {
          store.index().shrink();
        }
        return grow ? 1 : -1;
      } catch (OutOfBudget e) {
        return 0;
      }
    }

    private void drainHistory(FasterStore store, int key) {
      if (config.recordKind() == RecordKind.LONGS) {
        try (KeyHistory history = store.log().history(key)) {
          long above = Long.MAX_VALUE;
          while (history.next()) {
            if (!history.isTombstone()) {
              assertThat(history.value().getLong(0)).as(title).isLessThanOrEqualTo(above);
              above = history.value().getLong(0);
            }
          }
        }
      }
    }
  }

  /** All increments of all threads are present at the end, whatever path and page they took. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noUpdateIsLost(long seed) {
    int keyCount = 300;
    StoreConfig config = config(8).recordKind(RecordKind.LONGS).indexBytes(1024).build();
    try (FasterStore store = FasterStore.open(config)) {
      Crew crew =
          new Crew(
              "seed " + seed,
              () -> Insides.marks(store) + ", " + Insides.engine(store).log().room());
      for (int thread = 0; thread < WRITERS; thread++) {
        SplittableRandom dice = new SplittableRandom(seed + thread);
        crew.add(() -> {
          addUp(store, dice, keyCount);
          crew.end();
        });
      }
      crew.add(() -> {
        while (!crew.isOver()) {
          store.log().compact();
        }
      });
      crew.run();
      long sum = 0;
      try (LongSession<Void> session = store.newSession().longs(LongFunctions.<Void>sum())) {
        for (long key = 0; key < keyCount; key++) {
          sum += session.read(key, null) == Status.FOUND ? session.value() : 0;
        }
      }
      assertThat(sum).as("seed " + seed).isEqualTo(WRITERS * (10_000L + 1_000L * 16));
    }
  }

  private static void addUp(FasterStore store, SplittableRandom dice, int keyCount) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.<Void>sum())) {
      long[] keys = new long[16];
      long[] ones = LongStream.generate(() -> 1).limit(16).toArray();
      Status[] statuses = new Status[16];
      for (int i = 0; i < 10_000; i++) {
        session.rmw(dice.nextInt(keyCount), 1, null);
        if (i % 10 == 0) {
          for (int k = 0; k < keys.length; k++) {
            keys[k] = dice.nextInt(keyCount);
          }
          session.rmw(keys, ones, statuses, 0, keys.length, null);
        }
      }
    }
  }

  /**
   * Values of several chunks, each written by one thread, with concurrent compaction and live
   * scans.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void largeValuesAreWhole(long seed) {
    StoreConfig config = config(128).indexBytes(2048).build();
    try (FasterStore store = FasterStore.open(config)) {
      Crew crew =
          new Crew(
              "seed " + seed,
              () -> Insides.marks(store) + ", " + Insides.engine(store).log().room());
      for (int thread = 0; thread < WRITERS; thread++) {
        SplittableRandom dice = new SplittableRandom(seed + thread);
        int own = thread;
        crew.add(() -> {
          writeLarge(crew, store, own, dice);
          crew.end();
        });
      }
      crew.add(() -> {
        while (!crew.isOver()) {
          try (LogScan scan = store.log().scan(Versions.LIVE)) {
            while (scan.next()) {
              assertThat(isOneByte(scan.value().toArray())).isTrue();
            }
          }
          store.log().compact();
        }
      });
      crew.run();
    }
  }

  private static void writeLarge(Crew crew, FasterStore store, int own, SplittableRandom dice) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      byte[][] model = new byte[3][];
      for (int i = 0; i < 600 && !crew.isOver(); i++) {
        int number = dice.nextInt(model.length);
        ByteSpan key = ModelDriver.key(own + number * WRITERS);
        byte[] value = new byte[dice.nextInt(4) == 0 ? dice.nextInt(900) : dice.nextInt(20_000)];
        Arrays.fill(value, (byte) i);
        try {
          session.upsert(key, ByteSpan.of(value), null);
          model[number] = value;
        } catch (OutOfBudget e) {
          // The scan pins all pages.
          Thread.onSpinWait();
        }
        var result = new BytesFunctions.Result();
        Status status = session.read(key, null, result, null);
        assertThat(status).isEqualTo(model[number] == null ? Status.NOT_FOUND : Status.FOUND);
        if (model[number] != null) {
          assertThat(result.value).isEqualTo(model[number]);
        }
      }
    }
  }

  private static boolean isOneByte(byte[] value) {
    for (byte b : value) {
      if (b != value[0]) {
        return false;
      }
    }
    return true;
  }
}
