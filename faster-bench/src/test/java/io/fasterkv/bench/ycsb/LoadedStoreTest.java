package io.fasterkv.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.bench.store.BenchSession;
import io.fasterkv.bench.store.BenchStore;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.workload.WrongAnswer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that the checks accept a correct store and detect every kind of error. */
class LoadedStoreTest {
  private static final int KEYS = 1_000;

  /** Faults of a store. */
  enum Fault {
    NONE,
    LOSES_A_KEY,
    MIXES_KEYS_UP,
    LOSES_AN_UPDATE,
    UPDATES_TWICE,
    READS_NOTHING,
    READS_ANOTHER_KEY
  }

  /** A map with an occasional fault. */
  private record FakeStore(Fault fault, ConcurrentMap<Long, Long> map) implements BenchStore {
    FakeStore(Fault fault) {
      this(fault, new ConcurrentHashMap<>());
    }

    @Override
    public BenchSession newSession(int batch) {
      return new FakeSession(fault, map);
    }

    @Override
    public void close() {}
  }

  private static final class FakeSession implements BenchSession {
    private final Fault fault;
    private final ConcurrentMap<Long, Long> map;
    private long fingerprints;
    private int operations;

    FakeSession(Fault fault, ConcurrentMap<Long, Long> map) {
      this.fault = fault;
      this.map = map;
    }

    private boolean isTimeFor(Fault wrong) {
      return fault == wrong && ++operations == 500;
    }

    @Override
    public void read(KeyStream stream, int from, int to) {
      for (int i = from; i < to; i++) {
        long key = stream.keys()[i];
        if (isTimeFor(Fault.READS_ANOTHER_KEY)) {
          key = (key + 1) % KEYS;
        }
        if (!isTimeFor(Fault.READS_NOTHING)) {
          fingerprints += Values.fingerprintIn(get(key));
        }
      }
    }

    @Override
    public void upsert(KeyStream stream, int from, int to) {
      for (int i = from; i < to; i++) {
        map.put(stream.keys()[i], stream.values()[i]);
      }
    }

    @Override
    public void rmw(KeyStream stream, int from, int to) {
      for (int i = from; i < to; i++) {
        long amount = isTimeFor(Fault.LOSES_AN_UPDATE) ? 0 : isTimeFor(Fault.UPDATES_TWICE) ? 2 : 1;
        map.merge(stream.keys()[i], amount, Long::sum);
      }
    }

    @Override
    public void mix(KeyStream stream, int from, int to) {
      throw new IllegalStateException("this test mixes no operations");
    }

    @Override
    public long fingerprints() {
      return fingerprints;
    }

    @Override
    public long get(long key) {
      return map.getOrDefault(key, Values.MISSING);
    }

    @Override
    public void put(long key, long value) {
      if (isTimeFor(Fault.LOSES_A_KEY)) {
        return;
      }
      map.put(key, isTimeFor(Fault.MIXES_KEYS_UP) ? Values.of(key + 1, 0) : value);
    }
  }

  private static void loadReadUpdateCheck(Fault fault) {
    try (LoadedStore loaded = new LoadedStore("fake", new FakeStore(fault), KEYS, 1, false)) {
      loaded.load();
      run(loaded, Workload.READ);
      run(loaded, Workload.RMW);
      loaded.check();
    }
  }

  private static void run(LoadedStore loaded, Workload workload) {
    KeyStream stream = KeyStream.make(workload, Distribution.UNIFORM, KEYS, 1_000, 5);
    loaded.before(workload);
    Slice slice = new Slice(loaded.store(), List.of(stream), 1, Duration.ofMillis(5), 0);
    loaded.after(workload, slice.run().operations());
  }

  @Test
  void aRightStorePasses() {
    assertThatCode(() -> loadReadUpdateCheck(Fault.NONE)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @EnumSource(value = Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void aWrongStoreIsCaught(Fault fault) {
    assertThatThrownBy(() -> loadReadUpdateCheck(fault)).isInstanceOf(WrongAnswer.class);
  }

  @Test
  void updatesAreCountedAgainAfterUpsertsHaveChangedTheCounts() {
    FakeStore store = new FakeStore(Fault.LOSES_AN_UPDATE);
    try (LoadedStore loaded = new LoadedStore("fake", store, KEYS, 1, false)) {
      loaded.load();
      run(loaded, Workload.UPSERT);
      loaded.check();
      run(loaded, Workload.RMW);

      assertThatThrownBy(() -> loaded.before(Workload.UPSERT))
          .isInstanceOf(WrongAnswer.class)
          .hasMessageContaining("sum of counts");
    }
  }

  @Test
  void aSampleFindsAStoreThatHasLostEverything() {
    FakeStore store = new FakeStore(Fault.NONE);
    try (LoadedStore loaded = new LoadedStore("fake", store, KEYS, 1, true)) {
      loaded.load();
      store.map.clear();

      assertThatThrownBy(loaded::check)
          .isInstanceOf(WrongAnswer.class)
          .hasMessageContaining("value=missing");
    }
    assertThat(store.map).isEmpty();
  }
}
