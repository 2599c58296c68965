package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests random changes of states that expire, against plain collections with timestamps, while
 * compaction removes expired data: whole records, entries within them, and heads whose last part
 * was dropped just when another part is added. Some keys are written often, most rarely.
 */
@Tag("seeds")
class ExpiryModelTest extends IncrementalCheckpoints {
  private static final Duration TTL = Duration.ofMillis(4000);
  private static final int STEPS = 25_000;
  private static final int KEYS = 300;
  private static final int USER_KEYS = 2000;

  private final AtomicLong now = new AtomicLong(1000);
  private long expiredBytes;

  private record Stamped(String value, long millis) {}

  /** The expected state of one key. */
  private static final class Expected {
    @Nullable Stamped value;
    final List<Stamped> list = new ArrayList<>();
    final Map<Integer, Stamped> map = new TreeMap<>();
  }

  @Tag("slow")
  @Test
  void unexpiredEntriesArePresent() throws Throwable {
    backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory);
    backends.useTime(now::get);
    Seeds.run(4, this::run);
    assertThat(expiredBytes).isPositive();
  }

  private void run(SplittableRandom random) throws Exception {
    Map<Integer, Expected> model = new TreeMap<>();
    FasterKeyedStateBackend<Integer> backend = backends.open();
    ExpiringStates states = states(backend);
    for (int step = 0; step < STEPS; step++) {
      now.incrementAndGet();
      int key = random.nextInt(random.nextInt(4) == 0 ? KEYS / 30 : KEYS);
      backend.setCurrentKey(key);
      Expected expected = model.computeIfAbsent(key, none -> new Expected());
      change(states, expected, random);
      if (random.nextInt(8) == 0) {
        check(states, expected, "step " + step + ", key " + key);
      }
      if (random.nextInt(STEPS) < 3) {
        KeyedStateHandle taken = take(backend);
        end(backend);
        backend = backends.open(taken);
        states = states(backend);
      }
      if (random.nextInt(2000) == 0) {
        now.addAndGet(TTL.toMillis());
      }
    }
    for (Map.Entry<Integer, Expected> each : model.entrySet()) {
      backend.setCurrentKey(each.getKey());
      check(states, each.getValue(), "key " + each.getKey());
    }
    end(backend);
  }

  private void end(FasterKeyedStateBackend<Integer> backend) {
    expiredBytes += backend.store().statistics().compaction().expiredBytes();
    backend.dispose();
  }

  private void change(ExpiringStates states, Expected expected, SplittableRandom random)
      throws Exception {
    Stamped fresh = new Stamped(value(random), now.get());
    switch (random.nextInt(20)) {
      case 0 -> {
        states.values.update(fresh.value);
        expected.value = fresh;
      }
      case 1 -> {
        states.values.clear();
        expected.value = null;
      }
      case 2 -> {
        states.lists.clear();
        expected.list.clear();
      }
      case 3 -> {
        states.lists.update(List.of(fresh.value));
        expected.list.clear();
        expected.list.add(fresh);
      }
      case 4 -> {
        states.maps.clear();
        expected.map.clear();
      }
      case 5, 6 -> {
        int userKey = random.nextInt(USER_KEYS);
        states.maps.remove(userKey);
        expected.map.remove(userKey);
      }
      case 7, 8, 9, 10, 11, 12 -> {
        states.lists.add(fresh.value);
        expected.list.add(fresh);
      }
      default -> {
        int userKey = random.nextInt(USER_KEYS);
        states.maps.put(userKey, fresh.value);
        expected.map.put(userKey, fresh);
      }
    }
  }

  private void check(ExpiringStates states, Expected expected, String at) throws Exception {
    boolean hasValue = expected.value != null && isAlive(expected.value);
    assertThat(states.values.value()).as(at).isEqualTo(hasValue ? expected.value.value : null);
    assertThat(states.lists.get())
        .as(at)
        .containsExactlyElementsOf(
            expected.list.stream().filter(this::isAlive).map(Stamped::value).toList());
    Map<Integer, String> alive = new TreeMap<>();
    expected.map.forEach((key, stamped) -> {
      if (isAlive(stamped)) {
        alive.put(key, stamped.value);
      }
    });
    Map<Integer, String> found = new TreeMap<>();
    states.maps.entries().forEach(each -> found.put(each.getKey(), each.getValue()));
    assertThat(found).as(at).isEqualTo(alive);
    for (int userKey : alive.keySet()) {
      assertThat(states.maps.get(userKey)).as(at).isEqualTo(alive.get(userKey));
    }
    if (!alive.isEmpty()) {
      assertThat(states.maps.isEmpty()).as(at).isFalse();
    }
  }

  private boolean isAlive(Stamped stamped) {
    return stamped.millis + TTL.toMillis() > now.get();
  }

  private static ExpiringStates states(FasterKeyedStateBackend<Integer> backend) throws Exception {
    return new ExpiringStates(backend, StateTtlConfig.newBuilder(TTL).build());
  }

  /** A random value. Nearly all are short; some need a run, a piece or a chunk of their own. */
  private static String value(SplittableRandom random) {
    int length =
        switch (random.nextInt(40)) {
          case 0 -> 2000 + random.nextInt(4000);
          case 1, 2 -> 400 + random.nextInt(800);
          default -> random.nextInt(60);
        };
    return Character.toString('a' + random.nextInt(26)).repeat(length) + random.nextInt(1000);
  }
}
