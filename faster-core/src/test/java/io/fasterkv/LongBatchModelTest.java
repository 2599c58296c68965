package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests batches and single operations of a session on longs against a plain map: duplicate keys in
 * a batch, records in all regions, deleted keys, recovery, and an index that changes its size. The
 * seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class LongBatchModelTest {
  private static final int STEPS = 3_000;
  private static final int MAX_DOUBLINGS = 5;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(16);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StoreConfig config = config(random);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    Map<Long, Long> model = new HashMap<>();
    FasterStore store = FasterStore.open(config);
    try {
      Driver driver = new Driver(store, mode, random, model, seed);
      int doublings = 0;
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(1_000);
        if (dice < 4) {
          store.checkpoints().take();
          driver.session.close();
          store.close();
          store = FasterStore.recover(config);
          driver = new Driver(store, mode, random, model, seed);
        } else if (dice < 10) {
          boolean grow = doublings == 0 || (doublings < MAX_DOUBLINGS && random.nextBoolean());
          doublings += grow ? 1 : -1;
          long resized = grow ? store.index().grow() : store.index().shrink();
          assertThat(resized).as("seed " + seed).isPositive();
        } else if (dice < 14) {
          store.log().cut().close();
        } else {
          driver.operation();
        }
      }
      driver.checkAll();
      StoreInvariants.check(store);
      driver.session.close();
    } finally {
      store.close();
    }
  }

  private StoreConfig config(SplittableRandom random) {
    double[] fractions = {0, 0.25, 0.5, 0.9};
    return StoreConfig.builder(directory)
        .recordKind(RecordKind.LONGS)
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(4096L << random.nextInt(2, 5))
        .indexBytes(64L << random.nextInt(2, 8))
        .scratchBytes(256 << 10)
        .segmentBytes(16384)
        .mutableFraction(fractions[random.nextInt(fractions.length)])
        .build();
  }

  /** Runs operations on both store and model. */
  private static final class Driver implements LongFunctions<long[]> {
    private static final int KEYS = 1_200;
    private static final int MAX_BATCH = 100;

    private final LongSession<long[]> session;
    private final SplittableRandom random;
    private final Map<Long, Long> model;
    private final boolean isBlocking;
    private final String title;
    private final long[] keys = new long[MAX_BATCH];
    private final long[] numbers = new long[MAX_BATCH];
    private final Status[] statuses = new Status[MAX_BATCH];
    private int pending;

    Driver(
        FasterStore store,
        SessionMode mode,
        SplittableRandom random,
        Map<Long, Long> model,
        long seed) {
      session = store.newSession().mode(mode).longs(this);
      isBlocking = mode == SessionMode.BLOCKING;
      this.random = random;
      this.model = model;
      title = "seed " + seed + ", " + mode + ", key ";
    }

    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    /** The order matters where no update is pending, and does not matter where one may be. */
    @Override
    public long updater(long key, long input, long oldValue) {
      return (isBlocking ? 31 * oldValue : oldValue) + input;
    }

    @Override
    public void completionCallback(Status status, long key, long value, long[] context) {
      pending--;
      if (context != null) {
        assertThat(status == Status.FOUND).as(title + key).isEqualTo(model.containsKey(key));
        assertThat(value).as(title + key).isEqualTo(model.getOrDefault(key, 0L));
      }
    }

    void operation() {
      session.prefetch(random.nextInt(KEYS));
      switch (random.nextInt(10)) {
        case 0 -> delete(random.nextInt(KEYS));
        case 1 -> deleteBatch();
        case 2 -> single(random.nextInt(KEYS));
        case 3, 4 -> readBatch();
        case 5, 6 -> upsertBatch();
        default -> rmwBatch();
      }
    }

    void checkAll() {
      for (int first = 0; first < KEYS; first += MAX_BATCH) {
        for (int i = 0; i < MAX_BATCH; i++) {
          keys[i] = (long) first + i;
        }
        read(0, MAX_BATCH);
      }
    }

    private void delete(long key) {
      Status status = session.delete(key, null);
      if (model.remove(key) != null) {
        assertThat(status).as(title + key).isEqualTo(Status.FOUND);
      }
    }

    private void deleteBatch() {
      int from = random.nextInt(3);
      int count = draw(from);
      session.delete(keys, statuses, from, count, null);
      for (int i = from; i < from + count; i++) {
        if (model.remove(keys[i]) != null) {
          assertThat(statuses[i]).as(title + keys[i]).isEqualTo(Status.FOUND);
        }
      }
    }

    private void single(long key) {
      if (random.nextBoolean()) {
        session.upsert(key, key, null);
        model.put(key, key);
      } else {
        checkRead(key, session.read(key, new long[0]), session.value());
      }
    }

    private void checkRead(long key, Status status, long value) {
      if (status == Status.PENDING) {
        pending++;
        settle();
      } else {
        assertThat(status == Status.FOUND).as(title + key).isEqualTo(model.containsKey(key));
        assertThat(value).as(title + key).isEqualTo(model.getOrDefault(key, 0L));
      }
    }

    private void readBatch() {
      int from = random.nextInt(3);
      read(from, draw(from));
    }

    private void read(int from, int count) {
      int left = session.read(keys, numbers, statuses, from, count, new long[0]);
      assertThat(left).isEqualTo(pendingIn(from, count));
      for (int i = from; i < from + count; i++) {
        if (statuses[i] != Status.PENDING) {
          checkRead(keys[i], statuses[i], numbers[i]);
        }
      }
      pending += left;
      settle();
    }

    private void upsertBatch() {
      int from = random.nextInt(3);
      int count = draw(from);
      session.upsert(keys, numbers, statuses, from, count, null);
      for (int i = from; i < from + count; i++) {
        if (model.put(keys[i], numbers[i]) != null) {
          assertThat(statuses[i]).as(title + keys[i]).isNotEqualTo(Status.CREATED);
        }
      }
    }

    private void rmwBatch() {
      int from = random.nextInt(3);
      int count = draw(from);
      int left = session.rmw(keys, numbers, statuses, from, count, null);
      assertThat(left).isEqualTo(pendingIn(from, count));
      pending += left;
      settle();
      boolean mayBeOutOfOrder = left > 0;
      for (int i = from; i < from + count; i++) {
        Long old = model.get(keys[i]);
        if (!mayBeOutOfOrder) {
          assertThat(statuses[i] == Status.CREATED).as(title + keys[i]).isEqualTo(old == null);
        }
        model.put(keys[i], old == null ? numbers[i] : updater(keys[i], numbers[i], old));
      }
    }

    /** Fills a batch with random keys, often from a small set, and leaves the rest untouched. */
    private int draw(int from) {
      int count = random.nextInt(MAX_BATCH - from + 1);
      int range = random.nextInt(4) == 0 ? 20 : KEYS;
      for (int i = from; i < from + count; i++) {
        keys[i] = random.nextInt(range);
        numbers[i] = random.nextInt(1_000);
      }
      return count;
    }

    private int pendingIn(int from, int count) {
      int found = 0;
      for (int i = from; i < from + count; i++) {
        found += statuses[i] == Status.PENDING ? 1 : 0;
      }
      return found;
    }

    private void settle() {
      session.completePending(true);
      assertThat(pending).as(title + "any").isZero();
    }
  }
}
