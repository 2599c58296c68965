package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests batches of several threads on the same keys while the tail moves to new pages, the index
 * changes its size and cuts are made: no update is lost, and no reader sees a key's sum decrease.
 */
@Tag("seeds")
class LongBatchRaceTest {
  private static final int KEYS = 600;
  private static final int THREADS = 3;
  private static final int BATCHES = 1_500;
  private static final int BATCH = 80;
  private static final int MAX_DOUBLINGS = 4;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void noUpdateIsLostAndNoSumGoesBack(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] fractions = {0, 0.3, 0.6};
    StoreConfig config =
        StoreConfig.builder(directory)
            .recordKind(RecordKind.LONGS)
            .memoryBytes(1 << 20)
            .pageBytes(4096)
            .logMemoryBytes(16 << 10)
            .indexBytes(64L << random.nextInt(2, 8))
            .scratchBytes(512 << 10)
            .segmentBytes(16384)
            .mutableFraction(fractions[random.nextInt(fractions.length)])
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      AtomicLong added = new AtomicLong();
      Crew crew = new Crew("seed " + seed + ", " + config, () -> Insides.marks(store));
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom dice = random.split();
        crew.add(() -> {
          try (Worker worker = new Worker(store, dice, "seed " + seed)) {
            for (int i = 0; i < BATCHES && !crew.isOver(); i++) {
              added.addAndGet(worker.add());
              worker.look();
            }
          }
          crew.end();
        });
      }
      crew.add(() -> keepHouse(crew, store, random.split()));
      crew.run();
      try (Worker worker = new Worker(store, random, "seed " + seed)) {
        assertThat(worker.sum()).as("seed " + seed).isEqualTo(added.get());
      }
      StoreInvariants.check(store);
    }
  }

  private static void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
    int doublings = 0;
    while (!crew.isOver()) {
      switch (dice.nextInt(3)) {
        case 0 -> store.log().cut().close();
        case 1 -> store.log().compact();
        default -> {
          boolean grow = doublings == 0 || (doublings < MAX_DOUBLINGS && dice.nextBoolean());
          if (grow) {
            store.index().grow();
          } else {
            store.index().shrink();
          }
          doublings += grow ? 1 : -1;
        }
      }
    }
  }

  /** One thread's session, which remembers the largest sum it has read for each key. */
  private static final class Worker implements AutoCloseable {
    private final LongSession<Void> session;
    private final SplittableRandom dice;
    private final String title;
    private final long[] seen = new long[KEYS];
    private final long[] keys = new long[BATCH];
    private final long[] numbers = new long[BATCH];
    private final Status[] statuses = new Status[BATCH];

    Worker(FasterStore store, SplittableRandom dice, String title) {
      session = store.newSession().longs(LongFunctions.sum());
      this.dice = dice;
      this.title = title;
    }

    long add() {
      int count = draw();
      long sum = 0;
      for (int i = 0; i < count; i++) {
        numbers[i] = dice.nextInt(5);
        sum += numbers[i];
      }
      session.rmw(keys, numbers, statuses, 0, count, null);
      return sum;
    }

    void look() {
      int count = draw();
      session.read(keys, numbers, statuses, 0, count, null);
      for (int i = 0; i < count; i++) {
        int key = (int) keys[i];
        assertThat(numbers[i]).as(title + ", key " + key).isGreaterThanOrEqualTo(seen[key]);
        seen[key] = numbers[i];
      }
    }

    long sum() {
      long sum = 0;
      for (long key = 0; key < KEYS; key++) {
        sum += session.read(key, null) == Status.FOUND ? session.value() : 0;
      }
      return sum;
    }

    private int draw() {
      int range = dice.nextInt(3) == 0 ? 10 : KEYS;
      int count = dice.nextInt(BATCH + 1);
      for (int i = 0; i < count; i++) {
        keys[i] = dice.nextInt(range);
      }
      return count;
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
