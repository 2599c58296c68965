package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests threads that upsert, update, delete and read the same few keys, with values up to ten
 * pages, in memory and on disk: 4 or 8 pages of 4 KiB in memory, with concurrent cuts, scans, and
 * compaction or checkpoints. Every reader, updater and scan must see one version completely. Half
 * of the keys are only updated: no update may be lost or undone. The seed is in the test's name.
 */
@Tag("seeds")
class LargeRaceTest {
  private static final int THREADS = 3;
  private static final int OPERATIONS = 800;
  private static final int KEYS = 6;

  /** Keys below this one are only updated. */
  private static final int COUNTERS = 3;

  private static final int MAX_BYTES = 40_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noReaderSeesAPartialValue(long seed) {
    new Run(seed, directory).start();
  }

  private static final class Run {
    private final SplittableRandom random;
    private final StoreConfig config;
    private final LogDevice device;
    private final SessionMode mode;
    private final String title;
    private final StampedFunctions functions = new StampedFunctions(MAX_BYTES);

    /** Numbers of updates of a key: those that have begun, and those that have ended. */
    private final AtomicLongArray begun = new AtomicLongArray(KEYS);

    private final AtomicLongArray ended = new AtomicLongArray(KEYS);

    Run(long seed, Path directory) {
      random = new SplittableRandom(seed);
      double[] fractions = {0, 0.3, 0.5, 0.9};
      config =
          StoreConfig.builder(directory)
              .memoryBytes(4 << 20)
              .pageBytes(4096)
              .logMemoryBytes(4096L << random.nextInt(2, 4))
              .indexBytes(64L << random.nextInt(2, 6))
              .segmentBytes(16384)
              .scratchBytes(2 << 20)
              .mutableFraction(fractions[random.nextInt(fractions.length)])
              .deleteOnClose(random.nextBoolean())
              .backgroundCompaction(random.nextBoolean())
              .build();
      device =
          random.nextBoolean()
              ? new MemoryDevice()
              : new FileDevice(directory, config.segmentBytes());
      mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      title =
          "seed " + seed + ", " + mode + ", " + device.getClass().getSimpleName() + ", " + config;
    }

    void start() {
      try (FasterStore store = FasterStore.open(config, device)) {
        Crew crew = new Crew(title, () -> Insides.marks(store));
        for (int thread = 0; thread < THREADS; thread++) {
          long firstStamp = (long) (thread + 1) << 40;
          SplittableRandom dice = random.split();
          crew.add(() -> work(crew, store, firstStamp, dice));
        }
        SplittableRandom dice = random.split();
        crew.add(() -> keepHouse(crew, store, dice));
        crew.run();
        try (var session = store.newSession().spans(functions)) {
          for (int key = 0; key < COUNTERS; key++) {
            StampedFunctions.Result result = new StampedFunctions.Result();
            session.read(key(key), 0L, result, null);
            assertThat(result.count).as(title + ", key " + key).isEqualTo(ended.get(key));
          }
        }
      }
    }

    private void work(Crew crew, FasterStore store, long firstStamp, SplittableRandom dice) {
      try (var session = store.newSession().mode(mode).spans(functions)) {
        for (int i = 0; i < OPERATIONS && !crew.isOver(); i++) {
          int key = dice.nextInt(KEYS);
          int kind = dice.nextInt(8);
          if (kind < 4) {
            read(session, key);
          } else if (key < COUNTERS || kind == 4) {
            update(session, key, firstStamp + i);
          } else if (kind < 7) {
            session.upsert(key(key), functions.value(key, firstStamp + i), null);
          } else {
            session.delete(key(key), null);
          }
          if (dice.nextInt(8) == 0) {
            session.completePending(true);
          }
        }
      }
      crew.end();
    }

    private void update(
        Session<Long, StampedFunctions.Result, StampedFunctions.Reader> session,
        int key,
        long stamp) {
      begun.incrementAndGet(key);
      StampedFunctions.Reader reader = (status, none) -> ended.incrementAndGet(key);
      Status status = session.rmw(key(key), stamp, reader);
      if (status != Status.PENDING) {
        reader.ended(status, null);
      }
    }

    private void read(
        Session<Long, StampedFunctions.Result, StampedFunctions.Reader> session, int key) {
      long before = ended.get(key);
      StampedFunctions.Result result = new StampedFunctions.Result();
      StampedFunctions.Reader reader = (status, found) -> checkCount(key, before, result);
      Status status = session.read(key(key), 0L, result, reader);
      if (status != Status.PENDING) {
        reader.ended(status, result);
      }
    }

    private void checkCount(int key, long before, StampedFunctions.Result result) {
      boolean isRight = result.count >= before && result.count <= begun.get(key);
      if (key < COUNTERS && !isRight) {
        throw new IllegalStateException(
            "key " + key + " has " + result.count + " updates, at least " + before + " had ended");
      }
    }

    private void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
      while (!crew.isOver()) {
        switch (dice.nextInt(4)) {
          case 0 -> store.log().cut().close();
          case 1 -> scan(store);
          default -> {
            if (config.deleteOnClose()) {
              store.log().compact();
            } else {
              store.checkpoints().remove(store.checkpoints().take());
            }
          }
        }
      }
    }

    private void scan(FasterStore store) {
      long[] before = LongStream.range(0, KEYS).map(key -> ended.get((int) key)).toArray();
      StampedFunctions.Result[] found = new StampedFunctions.Result[KEYS];
      try (LogCut cut = store.log().cut();
          LogScan scan = cut.scan()) {
        while (scan.next()) {
          int key = (int) scan.key().getLong(0);
          found[key] = new StampedFunctions.Result();
          if (!scan.isTombstone()) {
            functions.check(key, scan.value(), found[key]);
          }
        }
      }
      for (int key = 0; key < COUNTERS; key++) {
        if (found[key] != null) {
          checkCount(key, before[key], found[key]);
        }
      }
    }

    private static ByteSpan key(int key) {
      byte[] bytes = new byte[Long.BYTES + 17 * key];
      ByteSpan span = ByteSpan.of(bytes);
      span.putLong(0, key);
      return span;
    }
  }
}
