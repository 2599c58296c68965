package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.record.LongRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests deletes in a full store without a device while cuts and scans block compaction: deletes
 * succeed as long as tombstones fit the room that {@link StoreConfig#inMemory} promises.
 */
@Tag("seeds")
class InMemoryDeleteTest {
  private static final int PAGE_BYTES = 4096;

  /** A page begins with a gap, and only once. */
  private static final long PER_PAGE = (PAGE_BYTES - 64) / LongRecord.BYTES;

  private static final int PART = 32;
  private static final int STEPS = 30_000;
  private static final int MOST_READERS = 4;

  private static FasterStore open(long pages) {
    return FasterStore.open(
        StoreConfig.inMemory()
            .memoryBytes(2 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(pages * PAGE_BYTES)
            .indexBytes(64 << 10)
            .recordKind(RecordKind.LONGS)
            .build());
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  /** The number of deletes that fit the reserved pages. */
  private static long guaranteed(long pages) {
    return Math.max(1, pages / PART) * PER_PAGE;
  }

  @ParameterizedTest
  @ValueSource(longs = {8, 16, 32, 64, 4 * PART})
  void aFullStoreWithACutTakesThePromisedDeletesAndSaysWhyItTakesNoMore(long pages) {
    try (FasterStore store = open(pages);
        LongSession<Void> session = session(store)) {
      long beforeCut = pages * PER_PAGE / 2;
      for (long key = 0; key < beforeCut; key++) {
        session.upsert(key, key, null);
      }
      LogCut cut = store.log().cut();
      long end = fill(session, beforeCut);
      long deleted = 0;
      for (; deleted < guaranteed(pages); deleted++) {
        assertThat(session.delete(deleted, null)).isEqualTo(Status.FOUND);
      }
      Throwable refusal = null;
      for (; refusal == null; deleted++) {
        long key = deleted;
        refusal = catchThrowable(() -> session.delete(key, null));
      }
      assertThat(refusal)
          .isInstanceOf(OutOfBudget.class)
          .hasMessageContaining("tombstoneBytes=" + LongRecord.BYTES)
          .hasMessageContaining("reservedForTombstones=" + Math.max(1, pages / PART) * PAGE_BYTES)
          .hasMessageContaining("close cuts, scans and histories")
          .hasMessageContaining("read-only since a cut");
      long refused = deleted - 1;
      assertThat(session.read(refused, null)).isEqualTo(Status.FOUND);
      for (long key = beforeCut; key < end; key += 2) {
        assertThat(session.delete(key, null)).as("deleted after the cut").isEqualTo(Status.FOUND);
      }
      assertThat(count(cut)).as("the cut is unchanged").isEqualTo(beforeCut);
      cut.close();
      for (long key = refused; key < beforeCut; key++) {
        assertThat(session.delete(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  /**
   * Adds keys, starting with {@code from}, until the store is full; returns the first key that did
   * not fit.
   */
  private static long fill(LongSession<Void> session, long from) {
    long key = from;
    while (true) {
      try {
        session.upsert(key, key, null);
        key++;
      } catch (OutOfBudget e) {
        return key;
      }
    }
  }

  private static long count(LogCut cut) {
    long count = 0;
    try (LogScan scan = cut.scan()) {
      while (scan.next()) {
        count++;
      }
    }
    return count;
  }

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void deletesSucceedWithinThePromise(long seed) {
    Run run = new Run(seed);
    new Crew("seed " + seed, () -> "refused=" + run.refused).add(run::go).run();
  }

  /** Compares a store that is full most of the time with a map, while readers open and close. */
  private static final class Run {
    private final SplittableRandom random;
    private final long pages;
    private final TreeMap<Long, Long> model = new TreeMap<>();

    /** The address where each key was written; compaction may have moved the record since. */
    private final TreeMap<Long, Long> addresses = new TreeMap<>();

    private final List<AutoCloseable> readers = new ArrayList<>();
    private long tombstones;
    private volatile long refused;

    Run(long seed) {
      random = new SplittableRandom(seed);
      pages = 8L << random.nextInt(5);
    }

    void go() {
      try (FasterStore store = open(pages);
          LongSession<Void> session = session(store)) {
        for (int step = 0; step < STEPS; step++) {
          switch (random.nextInt(400)) {
            case 0 -> addReader(store.log()::cut);
            case 1 -> addReader(() -> store.log().scan(Versions.LIVE));
            case 2, 3 -> closeReader(store);
            default -> {
              if (random.nextInt(5) == 0) {
                delete(store, session);
              } else {
                upsert(store, session);
              }
            }
          }
        }
        while (!readers.isEmpty()) {
          closeReader(store);
        }
        check(session);
        for (long key : List.copyOf(model.keySet())) {
          assertThat(session.delete(key, null)).isEqualTo(Status.FOUND);
        }
      }
    }

    private void addReader(Supplier<AutoCloseable> reader) {
      if (readers.size() < MOST_READERS) {
        readers.add(reader.get());
      }
    }

    private void upsert(FasterStore store, LongSession<Void> session) {
      long key = random.nextLong(2 * pages * PER_PAGE);
      long value = random.nextLong();
      try {
        session.upsert(key, value, null);
        addresses.put(key, Math.max(0, store.log().tailAddress() - LongRecord.BYTES));
        model.put(key, value);
      } catch (OutOfBudget e) {
        refused++;
      }
    }

    private void delete(FasterStore store, LongSession<Void> session) {
      Long key = model.ceilingKey(random.nextLong(2 * pages * PER_PAGE));
      if (key == null) {
        return;
      }
      long readOnly = Insides.engine(store).log().readOnlyAddress();
      boolean mayNeedTombstone = addresses.get(key) < readOnly;
      long tail = store.log().tailAddress();
      try {
        assertThat(session.delete(key, null)).isEqualTo(Status.FOUND);
        model.remove(key);
        tombstones += store.log().tailAddress() > tail ? 1 : 0;
      } catch (OutOfBudget e) {
        assertThat(readers).as("a reader blocks compaction").isNotEmpty();
        assertThat(mayNeedTombstone).as("the record is read-only").isTrue();
        assertThat(tombstones)
            .as("tombstones have been written")
            .isGreaterThanOrEqualTo(guaranteed(pages));
        refused++;
      }
    }

    private void closeReader(FasterStore store) {
      if (readers.isEmpty()) {
        return;
      }
      try {
        readers.remove(random.nextInt(readers.size())).close();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
      if (readers.isEmpty()) {
        store.log().compact();
        tombstones = 0;
      }
    }

    private void check(LongSession<Void> session) {
      model.forEach((key, value) -> {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(value);
      });
    }
  }
}
