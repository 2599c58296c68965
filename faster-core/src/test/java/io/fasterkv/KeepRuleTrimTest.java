package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests random operations against a plain map, on values that are lists of times, each of which
 * expires independently: compaction drops expired elements, whatever other operations run in
 * between. Unexpired elements are present in their order; expired ones may be present or not. The
 * seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class KeepRuleTrimTest {
  private static final int STEPS = 12_000;
  private static final int KEYS = 200;
  private static final int PAGE_BYTES = 4096;
  private static final int MOST_MOMENTS = 60;
  private static final long TTL = 3000;

  /** A time that is never reached. */
  private static final long FAR = 1_000_000;

  private static final int IN_BACKGROUND = 0;
  private static final int BY_HAND = 1;
  private static final int IN_MEMORY = 2;

  private final AtomicLong now = new AtomicLong();
  private final Map<Integer, List<Long>> model = new HashMap<>();

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  private record ByMoment(AtomicLong now, long ttl) implements KeepRule {
    private boolean isAlive(long moment) {
      return now.get() - moment < ttl;
    }

    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      return moments(value.toArray()).stream().anyMatch(this::isAlive);
    }

    @Override
    public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
      return ByteSpan.of(bytes(moments(value.toArray()).stream().filter(this::isAlive).toList()));
    }
  }

  private static List<Long> moments(byte[] bytes) {
    long[] all = new long[bytes.length / Long.BYTES];
    ByteBuffer.wrap(bytes).asLongBuffer().get(all);
    return Arrays.stream(all).boxed().toList();
  }

  private static byte[] bytes(List<Long> moments) {
    ByteBuffer bytes = ByteBuffer.allocate(moments.size() * Long.BYTES);
    moments.forEach(bytes::putLong);
    return bytes.array();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void keepsTheMomentsThatHaveNotExpired(long seed) {
    run(seed, TTL, (int) (seed % 3));
  }

  /** So that a compaction run has an effect. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void momentsThatGoTooEarlyAreFound(long seed) {
    assertThatThrownBy(() -> run(seed, TTL / 10, BY_HAND + (int) (seed % 2)))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aRuleMakesNoValueLonger() {
    KeepRule growing =
        new KeepRule() {
          @Override
          public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
            return true;
          }

          @Override
          public ByteSpan trimmed(ByteSpan key, ByteSpan value) {
            return ByteSpan.of(new byte[value.length() + 1]);
          }
        };
    try (FasterStore store = FasterStore.open(config(2, BY_HAND, growing));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[24]), null);
      }
      // Compaction reads what is on disk; a checkpoint waits until the log is there.
      store.checkpoints().take();

      assertThatThrownBy(store.log()::compact)
          .hasMessageContaining("a keep rule must not make a value longer: bytes=25");
    }
  }

  private void run(long seed, long ttl, int kind) {
    SplittableRandom random = new SplittableRandom(seed);
    ByMoment rule = new ByMoment(now, ttl);
    try (FasterStore store = FasterStore.open(config(random.nextInt(2, 5), kind, rule));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      writeWhatExpiresByHalf(session);
      for (int step = 0; step < STEPS; step++) {
        now.incrementAndGet();
        change(session, random);
        int key = random.nextInt(KEYS);
        check(session, key, "seed " + seed + ", step " + step + ", key " + key);
        if (kind != IN_BACKGROUND && random.nextInt(400) == 0) {
          store.log().compact();
        }
      }
      if (kind == BY_HAND) {
        store.log().cut().close();
        store.log().compact();
        assertThat(expiredShare(store)).as("seed " + seed).isLessThan(0.2);
      }
      for (int key = 0; key <= KEYS; key++) {
        check(session, key, "seed " + seed + ", key " + key);
      }
      if (kind != IN_BACKGROUND) {
        assertThat(store.statistics().compaction().expiredBytes()).as("seed " + seed).isPositive();
        StoreInvariants.check(store);
      }
    }
  }

  /**
   * Whatever values the seed produces, some value has a part that expires and one that does not.
   */
  private void writeWhatExpiresByHalf(Session<byte[], BytesFunctions.Result, Object> session) {
    List<Long> moments = List.of(now.get(), FAR);
    model.put(KEYS, moments);
    session.upsert(ModelDriver.key(KEYS), ByteSpan.of(bytes(moments)), null);
  }

  private void change(
      Session<byte[], BytesFunctions.Result, Object> session, SplittableRandom random) {
    int key = random.nextInt(KEYS);
    ByteSpan bytes = ModelDriver.key(key);
    List<Long> moments = model.computeIfAbsent(key, none -> new ArrayList<>());
    if (random.nextInt(20) == 0) {
      session.delete(bytes, null);
      moments.clear();
      return;
    }
    if (random.nextInt(4) == 0 || moments.size() >= MOST_MOMENTS) {
      moments.clear();
      moments.add(now.get());
      session.upsert(bytes, ByteSpan.of(bytes(moments)), null);
      return;
    }
    moments.add(now.get());
    session.rmw(bytes, bytes(List.of(now.get())), null);
  }

  private void check(Session<byte[], BytesFunctions.Result, Object> session, int key, String at) {
    BytesFunctions.Result result = new BytesFunctions.Result();
    Status status = session.read(ModelDriver.key(key), null, result, null);
    List<Long> found = status == Status.FOUND ? moments(result.value) : List.of();
    assertThat(alive(found)).as(at).isEqualTo(alive(model.getOrDefault(key, List.of())));
  }

  private List<Long> alive(List<Long> moments) {
    return moments.stream().filter(moment -> now.get() - moment < TTL).toList();
  }

  /** Counts the times in live records, independently of the rule. */
  private double expiredShare(FasterStore store) {
    long all = 0;
    long alive = 0;
    try (LogScan scan = store.log().scan(Versions.LIVE)) {
      while (scan.next()) {
        List<Long> moments = moments(scan.value().toArray());
        all += moments.size();
        alive += alive(moments).size();
      }
    }
    return all == 0 ? 0 : (double) (all - alive) / all;
  }

  private StoreConfig config(int pages, int kind, KeepRule rule) {
    StoreConfigBuilder config =
        kind == IN_MEMORY
            ? StoreConfig.inMemory().backgroundCompaction(false).memoryBytes(4 << 20)
            : StoreConfig.builder(directory)
                .memoryBytes(1 << 20)
                .logMemoryBytes((long) PAGE_BYTES << pages)
                .segmentBytes(2 * PAGE_BYTES)
                .mutableFraction(0.5)
                .deleteOnClose(true)
                .backgroundCompaction(kind == IN_BACKGROUND);
    return config
        .scratchBytes(256 << 10)
        .pageBytes(PAGE_BYTES)
        .indexBytes(1024)
        .keepRule(rule)
        .build();
  }
}
