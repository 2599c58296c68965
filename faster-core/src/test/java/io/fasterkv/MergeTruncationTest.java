package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.device.MemoryDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A log whose head expires while values lie in it in parts: what is left of a value are its latest
 * updates, in order and without a gap, and nothing but another truncation takes more of them. The
 * seed is in the test's name.
 */
class MergeTruncationTest {
  private static final int KEYS = 60;
  private static final int STEPS = 20_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  /** What a key's updates were, oldest first, and how many of them may be or are gone. */
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

    /** Whether the value is made of the last updates, as many as there should be. */
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
  void whatIsLeftOfAValueAreItsLatestUpdates(long seed) {
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
        var session = store.newLongSession(new ChainHash(), SessionMode.BLOCKING)) {
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
    long begin = store.beginAddress();
    store.truncate(begin + random.nextLong(store.tailAddress() - begin + 1));
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
