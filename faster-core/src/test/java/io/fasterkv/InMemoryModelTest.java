package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.log.HybridLog;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests stores without a device against a plain map, with pages of 4 KiB and few buckets. A store
 * with enough room executes all operations, batches, cuts, live scans, expiry, growth and
 * shrinkage. In a store that is full again and again, each operation takes effect or is refused
 * without effect. The seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class InMemoryModelTest {
  private static final int PAGE_BYTES = 4096;
  private static final int STEPS = 12_000;
  private static final int MAX_BUCKETS = 1_000;

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    boolean inBackground = random.nextBoolean();
    StoreConfig config = config(random, 128, inBackground);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    try (FasterStore store = FasterStore.open(config);
        ModelDriver driver = new ModelDriver(store, mode, random, model, seed)) {
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(10_000);
        if (store.statistics().logBytes() > config.logMemoryBytes() / 2 || dice < 10) {
          // While a cut is open nothing is compacted, so the cut needs room in advance.
          store.log().compact();
        } else if (dice < 30) {
          driver.checkCut();
        } else if (dice < 40) {
          driver.checkLive();
        } else if (dice < 45 && !inBackground) {
          driver.truncate();
        } else if (dice < 65) {
          resize(store, random);
        } else {
          driver.operation();
        }
      }
      driver.checkAll();
      if (!inBackground) {
        StoreInvariants.check(store);
      }
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(config.memoryBytes());
    }
  }

  private static void resize(FasterStore store, SplittableRandom random) {
    long buckets = Insides.engine(store).index().soleTable().mainBuckets();
    if (buckets % 2 != 0 || (buckets < MAX_BUCKETS && random.nextBoolean())) {
      store.index().grow();
    } else {
      store.index().shrink();
    }
  }

  private static StoreConfig config(SplittableRandom random, long pages, boolean inBackground) {
    StoreConfigBuilder config =
        StoreConfig.inMemory()
            .memoryBytes(2 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(pages * PAGE_BYTES)
            .indexBytes(64L << random.nextInt(2, 9))
            .backgroundCompaction(inBackground);
    return (random.nextBoolean() ? config.merge(new BytesFunctions()) : config).build();
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void isFullAgainAndAgain(long seed) {
    FullRun run = new FullRun(seed);
    new Crew(run.title, run::state).add(run::go).run();
  }

  /** A store with less room than the records that the test writes. */
  private static final class FullRun {
    private static final int KEYS = 600;
    private final String title;
    private final SplittableRandom random;
    private final boolean inBackground;
    private final StoreConfig config;
    private final int maxValueBytes;
    private final Map<Integer, byte[]> model = new HashMap<>();
    private int refused;
    private int since;

    /** Whether the cut may have left read-only records, whose deletes need room. */
    private boolean hasCut;

    private volatile FasterStore open;

    FullRun(long seed) {
      title = "seed " + seed;
      random = new SplittableRandom(seed);
      inBackground = random.nextBoolean();
      int doublings = 1 + random.nextInt(3);
      config = config(random, 4L << doublings, inBackground);
      maxValueBytes =
          switch (doublings) {
            case 1 -> random.nextBoolean() ? 700 : 3000;
            default -> random.nextBoolean() || config.merge() != null ? 3000 : 9000;
          };
    }

    String state() {
      HybridLog log = Insides.engine(open).log();
      return config + ", " + log + ", " + log.room();
    }

    void go() {
      SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      try (FasterStore store = FasterStore.open(config);
          var session = store.newSession().mode(mode).spans(new BytesFunctions())) {
        open = store;
        for (int step = 0; step < STEPS; step++) {
          step(store, session);
        }
        assertThat(refused).as(title).isPositive();
        store.log().compact();
        for (int key = 0; key < KEYS; key++) {
          read(session, key);
        }
        if (!inBackground) {
          StoreInvariants.check(store);
          store.log().compact();
        }
        for (int key : Map.copyOf(model).keySet()) {
          delete(session, key);
        }
        store.log().compact();
        upsert(session, 0, new byte[Math.min(maxValueBytes, 700)]);
        assertThat(model).as(title + ": room again when all is deleted").hasSize(1);
      }
    }

    private void step(FasterStore store, Session<byte[], BytesFunctions.Result, Object> session) {
      int key = random.nextInt(KEYS);
      try {
        switch (random.nextInt(1000)) {
          case 0 -> {
            store.log().cut().close();
            hasCut = true;
          }
          case 1 -> store.index().grow();
          case 2 -> shrink(store);
          default -> {
            switch (random.nextInt(8)) {
              case 0, 1 -> read(session, key);
              case 2, 3, 4 -> upsert(session, key, value());
              case 5, 6 -> rmw(session, key);
              default -> {
                if (!hasCut || inBackground) {
                  delete(session, key);
                }
              }
            }
          }
        }
        since = 0;
      } catch (OutOfBudget e) {
        refused++;
        assertThat(e).as(title).hasMessageContaining("raise");
        if (!inBackground && ++since > 3) {
          store.log().compact();
          hasCut = false;
          since = 0;
        }
      }
    }

    private void shrink(FasterStore store) {
      if (Insides.engine(store).index().soleTable().mainBuckets() % 2 == 0) {
        store.index().shrink();
      }
    }

    private void read(Session<byte[], BytesFunctions.Result, Object> session, int key) {
      var result = new BytesFunctions.Result();
      Status status = session.read(ModelDriver.key(key), null, result, null);
      if (status == Status.PENDING) {
        session.completePending(true);
        status = result.completed;
      }
      byte[] expected = model.get(key);
      assertThat(status)
          .as(title + ", key " + key)
          .isEqualTo(expected == null ? Status.NOT_FOUND : Status.FOUND);
      if (expected != null) {
        assertThat(result.value).as(title + ", key " + key).isEqualTo(expected);
      }
    }

    private void upsert(
        Session<byte[], BytesFunctions.Result, Object> session, int key, byte[] value) {
      session.upsert(ModelDriver.key(key), ByteSpan.of(value), null);
      model.put(key, value);
    }

    private void rmw(Session<byte[], BytesFunctions.Result, Object> session, int key) {
      byte[] input = new byte[random.nextInt(40)];
      Arrays.fill(input, (byte) random.nextInt());
      byte[] old = model.getOrDefault(key, new byte[0]);
      if (old.length + input.length > maxValueBytes) {
        return;
      }
      if (session.rmw(ModelDriver.key(key), input, null) == Status.PENDING) {
        session.completePending(true);
      }
      byte[] appended = Arrays.copyOf(old, old.length + input.length);
      System.arraycopy(input, 0, appended, old.length, input.length);
      model.put(key, appended);
    }

    /** Never refused while compaction can run and no cut is open. */
    private void delete(Session<byte[], BytesFunctions.Result, Object> session, int key) {
      Status status;
      try {
        status = session.delete(ModelDriver.key(key), null);
      } catch (OutOfBudget e) {
        throw new AssertionError(title + ": a delete was refused", e);
      }
      if (model.remove(key) != null) {
        assertThat(status).as(title + ", key " + key).isEqualTo(Status.FOUND);
      }
    }

    private byte[] value() {
      byte[] value =
          new byte[random.nextInt(random.nextInt(4) == 0 ? maxValueBytes : maxValueBytes / 8 + 1)];
      Arrays.fill(value, (byte) random.nextInt());
      return value;
    }
  }
}
