package io.fasterkv;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests threads that write keys of their own and read all keys, in a log of a few tiny pages and an
 * index of a few buckets that grows and shrinks, with concurrent cuts, checkpoints or compaction
 * (along chains, in sequence, or either), and idle sessions. Every read is compared with the writes
 * that had ended before it began and those that had begun when it ended. A lost, torn, stale,
 * misplaced or resurrected value is an error. The seed is in the test's name.
 */
@Tag("long")
@Tag("seeds")
class OwnedKeysStressTest {
  private static final int WRITERS = 3;
  private static final int OPERATIONS = 20_000;
  private static final int MAX_DOUBLINGS = 3;

  /** Values of up to seven pages. */
  private static final int LARGE_PADDING = 28_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(12);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noReadIsWrong(long seed) {
    Run run = new Run(seed, directory);
    run.start();
  }

  /** One store and its threads. */
  private static final class Run {
    private final String title;
    private final StoreConfig config;
    private final LogDevice device;
    private final SessionMode mode;
    private final int maxPadding;
    private final VersionedKeys keys;
    private final SplittableRandom random;

    Run(long seed, Path directory) {
      random = new SplittableRandom(seed);
      double[] fractions = {0, 0.3, 0.5, 0.9};
      boolean isTemporary = random.nextBoolean();
      config =
          StoreConfig.builder(directory)
              .memoryBytes(4 << 20)
              .pageBytes(4096)
              .logMemoryBytes(4096L << random.nextInt(2, 4))
              .indexBytes(Math.max(256, 64L << random.nextInt(2, 10)))
              .segmentBytes(16384)
              .scratchBytes(2 << 20)
              .mutableFraction(fractions[random.nextInt(fractions.length)])
              .recordKind(random.nextInt(3) == 0 ? RecordKind.LONGS : RecordKind.SPANS)
              .deleteOnClose(isTemporary)
              .build();
      device =
          random.nextBoolean()
              ? new MemoryDevice()
              : new FileDevice(directory, config.segmentBytes());
      mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      int[] paddings = {40, 700, LARGE_PADDING};
      maxPadding = paddings[random.nextInt(paddings.length)];
      keys = new VersionedKeys(random.nextBoolean() ? 6 : 200);
      title =
          "seed " + seed + ", " + mode + ", " + device.getClass().getSimpleName() + ", " + config;
    }

    void start() {
      try (FasterStore store = FasterStore.open(config, device)) {
        double[] weights = {0, 1, Double.POSITIVE_INFINITY};
        Insides.compactor(store).weighChains(weights[random.nextInt(weights.length)]);
        Crew crew = new Crew(title, () -> Insides.marks(store));
        try (VersionedSession idle = VersionedSession.open(store, mode, maxPadding)) {
          idle.read(0, version -> {});
          for (int writer = 0; writer < WRITERS; writer++) {
            SplittableRandom dice = random.split();
            int own = writer;
            crew.add(() -> work(crew, store, own, dice));
          }
          SplittableRandom dice = random.split();
          crew.add(() -> keepHouse(crew, store, dice));
          if (config.deleteOnClose()) {
            crew.add(() -> compact(crew, store));
          }
          crew.run();
        }
        try (VersionedSession session = VersionedSession.open(store, mode, maxPadding)) {
          for (int key = 0; key < keys.count(); key++) {
            read(session, key);
          }
          session.completePending();
        }
        StoreInvariants.check(store);
      }
    }

    private void work(Crew crew, FasterStore store, int own, SplittableRandom dice) {
      try (VersionedSession session = VersionedSession.open(store, mode, maxPadding)) {
        int operations = maxPadding == LARGE_PADDING ? OPERATIONS / 8 : OPERATIONS;
        for (int i = 0; i < operations && !crew.isOver(); i++) {
          int key = dice.nextInt(4) == 0 ? 0 : dice.nextInt(keys.count());
          if (key % WRITERS == own && dice.nextInt(3) > 0) {
            write(session, key, dice.nextInt(8));
          } else {
            read(session, key);
          }
          if (dice.nextInt(16) == 0) {
            session.completePending();
          }
        }
      }
      crew.end();
    }

    private void write(VersionedSession session, int key, int dice) {
      long version = keys.begin(key, dice == 0);
      switch (dice) {
        case 0 -> session.delete(key);
        case 1, 2 -> session.upsert(key, version);
        default -> session.rmw(key, version);
      }
      keys.end(key, version);
    }

    private void read(VersionedSession session, int key) {
      long before = keys.ended(key);
      session.read(key, version -> keys.check(key, version, before));
    }

    /** Cuts, checkpoints, compaction runs, growth and shrinkage while the other threads work. */
    private void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
      VersionedFunctions functions = new VersionedFunctions(maxPadding);
      int doublings = 0;
      while (!crew.isOver()) {
        switch (dice.nextInt(5)) {
          case 0 -> store.log().cut().close();
          case 1 -> keys.checkScan(store, functions, config.recordKind());
          case 2, 3 -> {
            boolean grow = doublings == 0 || (doublings < MAX_DOUBLINGS && dice.nextBoolean());
            doublings += resize(store, grow);
          }
          default -> {
            if (config.deleteOnClose()) {
              store.log().compact();
            } else {
              store.checkpoints().take();
            }
          }
        }
      }
    }

    /** Moves records in both ways, also while chunks of the index are moved. */
    private static void compact(Crew crew, FasterStore store) {
      while (!crew.isOver()) {
        store.log().compact();
        Thread.yield();
      }
    }

    private static int resize(FasterStore store, boolean grow) {
      if (grow) {
        store.index().grow();
      } else {
        store.index().shrink();
      }
      return grow ? 1 : -1;
    }
  }
}
