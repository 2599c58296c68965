package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests random operations against a plain map, in a store whose rule drops records written long
 * ago. An unexpired record has its latest value. An expired one has its latest value or is absent,
 * and once absent it remains absent. The seed is in the test's name; {@code -Dfaster.seed=N}
 * replays it.
 */
@Tag("seeds")
class KeepRuleModelTest {
  private static final int STEPS = 12_000;
  private static final int KEYS = 400;
  private static final int PAGE_BYTES = 4096;
  private static final long TTL = 3000;

  private final AtomicLong now = new AtomicLong();
  private final Map<Integer, byte[]> model = new HashMap<>();

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  private static final class ByTime implements KeepRule {
    private final AtomicLong now;

    private final long ttl;

    ByTime(AtomicLong now, long ttl) {
      this.now = now;
      this.ttl = ttl;
    }

    @Override
    public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
      byte[] bytes = value.toArray();
      return now.get() - ByteBuffer.wrap(bytes).getLong() < ttl;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void keepsAllThatHasNotExpired(long seed) {
    run(seed, TTL);
  }

  /** So that a compaction run has an effect. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void detectsRecordsDroppedTooEarly(long seed) {
    assertThatThrownBy(() -> run(seed, TTL / 10)).isInstanceOf(AssertionError.class);
  }

  private void run(long seed, long ttl) {
    SplittableRandom random = new SplittableRandom(seed);
    int kind = random.nextInt(4);
    try (FasterStore store = FasterStore.open(config(random, kind, ttl));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      for (int step = 0; step < STEPS; step++) {
        now.incrementAndGet();
        int key = random.nextInt(KEYS);
        ByteSpan bytes = ModelDriver.key(key);
        String at = "seed " + seed + ", step " + step + ", key " + key;
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3 -> {
            byte[] value = value(random);
            session.upsert(bytes, ByteSpan.of(value), null);
            model.put(key, value);
          }
          case 4 -> {
            session.delete(bytes, null);
            model.remove(key);
          }
          default -> check(session, key, at);
        }
        if (kind != 0 && random.nextInt(400) == 0) {
          store.log().compact();
        }
      }
      for (int key = 0; key < KEYS; key++) {
        check(session, key, "seed " + seed + ", key " + key);
      }
      if (kind > 1) {
        now.addAndGet(2 * TTL);
        if (kind == 2) {
          store.log().cut().close();
        }
        store.log().compact();
        store.log().compact();
        assertThat(store.statistics().compaction().expiredBytes()).as("seed " + seed).isPositive();
        assertThat(store.statistics().compaction().movedBytes()).as("seed " + seed).isPositive();
        StoreInvariants.check(store);
      }
    }
  }

  private void check(Session<byte[], BytesFunctions.Result, Object> session, int key, String at) {
    BytesFunctions.Result result = new BytesFunctions.Result();
    Status status = session.read(ModelDriver.key(key), null, result, null);
    byte[] expected = model.get(key);
    if (status == Status.FOUND) {
      assertThat(result.value).as(at).isEqualTo(expected);
    } else if (expected != null) {
      long age = now.get() - ByteBuffer.wrap(expected).getLong();
      assertThat(age).as(at + " is absent").isGreaterThanOrEqualTo(TTL);
      model.remove(key);
    }
  }

  /** The time, followed by other bytes; one value in twenty is larger than a page. */
  private byte[] value(SplittableRandom random) {
    int more = random.nextInt(20) == 0 ? 3500 + random.nextInt(4000) : random.nextInt(60);
    byte[] value = new byte[Long.BYTES + more];
    random.nextBytes(value);
    ByteBuffer.wrap(value).putLong(now.get());
    return value;
  }

  /** In the background, in memory, and on request with and without a merge. */
  private StoreConfig config(SplittableRandom random, int kind, long ttl) {
    StoreConfigBuilder config =
        kind == 1 ? StoreConfig.inMemory().backgroundCompaction(false) : onDisk(random, kind == 0);
    config
        .memoryBytes(kind == 1 ? 4 << 20 : 1 << 20)
        .scratchBytes(256 << 10)
        .pageBytes(PAGE_BYTES)
        .indexBytes(64L << random.nextInt(2, 9))
        .keepRule(new ByTime(now, ttl));
    return (kind == 3 ? config.merge(new BytesFunctions()) : config).build();
  }

  private StoreConfigBuilder onDisk(SplittableRandom random, boolean inBackground) {
    return StoreConfig.builder(directory)
        .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 5))
        .segmentBytes(2 * PAGE_BYTES)
        .mutableFraction(0.5)
        .deleteOnClose(true)
        .backgroundCompaction(inBackground);
  }
}
