package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a log whose head expires while values consist of several records. A value keeps its latest
 * updates, in order and without a gap, and only another truncation removes more of them. The seed
 * is in the test's name.
 */
@Tag("seeds")
class MergeTruncationTest {
  private static final int KEYS = 60;
  private static final int STEPS = 20_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  /** A key's updates, oldest first, and how many of them may be truncated or are. */
  private static final class Expected {
    private final List<Long> updates = new ArrayList<>();
    private int gone;
    private boolean isCertain = true;

    void set(Long update) {
      updates.clear();
      gone = 0;
      isCertain = true;
      if (update != null) {
        updates.add(update);
      }
    }

    /** Whether the value consists of the expected number of last updates. */
    boolean fits(boolean isFound, long value) {
      for (int from = gone; from <= updates.size(); from++) {
        if (isFound == from < updates.size() && (!isFound || value == join(from))) {
          gone = from;
          isCertain = true;
          return true;
        }
        if (isCertain) {
          return false;
        }
      }
      return false;
    }

    private long join(int from) {
      long value = ChainHash.of(updates.get(from));
      for (int i = from + 1; i < updates.size(); i++) {
        value = ChainHash.join(value, ChainHash.of(updates.get(i)));
      }
      return value;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void theRestOfAValueIsItsLatestUpdates(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4 * 4096)
            .pageBytes(4096)
            .indexBytes(64L << random.nextInt(2, 9))
            .mutableFraction(random.nextInt(3) / 4.0)
            .recordKind(RecordKind.LONGS)
            .merge(new ChainHash())
            .build();
    List<Expected> model = new ArrayList<>();
    for (int key = 0; key < KEYS; key++) {
      model.add(new Expected());
    }
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        var session = store.newSession().longs(new ChainHash())) {
      long cold = KEYS;
      int deltas = 0;
      for (int step = 0; step < STEPS; step++) {
        int key = random.nextInt(KEYS);
        long input = random.nextInt(1, 1000);
        switch (random.nextInt(40)) {
          case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 -> {
            Status status = session.rmw(key, input, null);
            deltas += status == Status.DELTA_APPENDED ? 1 : 0;
            model.get(key).updates.add(input);
          }
          case 10 -> {
            session.upsert(key, ChainHash.of(input), null);
            model.get(key).set(input);
          }
          case 11 -> {
            session.delete(key, null);
            model.get(key).set(null);
          }
          case 12, 13, 14 -> check(session, key, model.get(key), "seed " + seed + ", step " + step);
          case 15 -> {
            if (random.nextInt(20) == 0) {
              truncate(store, random, model);
            }
          }
          default -> session.upsert(cold++, 1, null);
        }
      }
      for (int key = 0; key < KEYS; key++) {
        check(session, key, model.get(key), "seed " + seed + ", at the end");
      }
      assertThat(deltas).as("seed " + seed).isPositive();
    }
  }

  private static void truncate(FasterStore store, SplittableRandom random, List<Expected> model) {
    long begin = store.log().beginAddress();
    store.log().truncate(begin + random.nextLong(store.log().tailAddress() - begin + 1));
    model.forEach(expected -> expected.isCertain = false);
  }

  private static void check(
      LongSession<ChainHash.Result> session, int key, Expected expected, String title) {
    boolean isFound = session.read(key, null) == Status.FOUND;
    assertThat(expected.fits(isFound, session.value()))
        .as(
            "%s, key %d: found=%s, updates=%s, gone=%d",
            title, key, isFound, expected.updates, expected.gone)
        .isTrue();
  }
}
