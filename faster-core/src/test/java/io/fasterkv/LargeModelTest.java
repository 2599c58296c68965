package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests random operations against a plain map, on values from empty to many times the log's memory:
 * with cuts, and with checkpoints and crashes or with compaction on request and in the background.
 * There are 4 or 8 pages of 4 KiB in memory and few buckets. The seed is in the test's name; {@code
 * -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class LargeModelTest {
  private static final int STEPS = 1_200;
  private static final int KEYS = 24;
  private static final int PAGE_BYTES = 4096;
  private static final int MAX_RMW_BYTES = 100_000;

  @TempDir Path directory;

  private SplittableRandom random = new SplittableRandom();
  private Map<Integer, byte[]> model = new HashMap<>();
  private Session<byte[], BytesFunctions.Result, Object> session;
  private String title = "";

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMapThatIsRecovered(long seed) {
    begin(seed);
    StoreConfig config = config().build();
    SessionMode mode = mode();
    Map<Integer, byte[]> committed;
    FasterStore store = FasterStore.open(config);
    try {
      session = store.newSession().mode(mode).spans(new BytesFunctions());
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(1000);
        if (dice < 4) {
          store.checkpoints().take();
          committed = new HashMap<>(model);
          if (random.nextBoolean()) {
            someOperations(random.nextInt(20));
            session.close();
            store.close();
            store = FasterStore.recover(config);
            session = store.newSession().mode(mode).spans(new BytesFunctions());
            model = new HashMap<>(committed);
            checkAll();
            StoreInvariants.check(store);
          }
        } else if (dice < 8) {
          checkCut(store);
        } else {
          operation();
        }
      }
      checkAll();
      StoreInvariants.check(store);
      session.close();
    } finally {
      store.close();
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMapThatIsCompacted(long seed) {
    begin(seed);
    boolean inBackground = random.nextBoolean();
    StoreConfig config = config().deleteOnClose(true).backgroundCompaction(inBackground).build();
    try (FasterStore store = FasterStore.open(config)) {
      session = store.newSession().mode(mode()).spans(new BytesFunctions());
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(1000);
        if (dice < 8 && !inBackground) {
          store.log().compact();
        } else if (dice < 14) {
          checkCut(store);
        } else {
          operation();
        }
      }
      checkAll();
      if (!inBackground) {
        StoreInvariants.check(store);
      }
      session.close();
    }
    assertThat(directory).as(title).isEmptyDirectory();
  }

  private void begin(long seed) {
    random = new SplittableRandom(seed);
    model = new HashMap<>();
    title = "seed " + seed;
  }

  private SessionMode mode() {
    return random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
  }

  private StoreConfigBuilder config() {
    double[] fractions = {0, 0.5, 0.9, 1};
    return StoreConfig.builder(directory)
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 4))
        .scratchBytes(1 << 20)
        .indexBytes(64L << random.nextInt(2, 7))
        .segmentBytes(4 * PAGE_BYTES)
        .mutableFraction(fractions[random.nextInt(fractions.length)]);
  }

  private void someOperations(int count) {
    for (int i = 0; i < count; i++) {
      operation();
    }
  }

  private void operation() {
    int key = random.nextInt(KEYS);
    switch (random.nextInt(8)) {
      case 0, 1 -> checkRead(key);
      case 2, 3, 4 -> {
        byte[] value = value();
        assertThat(session.upsert(key(key), ByteSpan.of(value), null))
            .as(at(key))
            .isIn(Status.UPDATED_IN_PLACE, Status.CREATED, Status.COPIED);
        model.put(key, value);
      }
      case 5, 6 -> append(key);
      default -> {
        Status status = session.delete(key(key), null);
        if (model.remove(key) != null) {
          assertThat(status).as(at(key)).isEqualTo(Status.FOUND);
        }
      }
    }
  }

  private void append(int key) {
    byte[] old = model.getOrDefault(key, new byte[0]);
    byte[] input = random.nextBoolean() ? new byte[random.nextInt(9)] : value();
    if (old.length + input.length > MAX_RMW_BYTES) {
      return;
    }
    Status status = session.rmw(key(key), input, null);
    if (status == Status.PENDING) {
      assertThat(session.completePending(true)).isZero();
    } else {
      assertThat(status == Status.CREATED).as(at(key)).isEqualTo(!model.containsKey(key));
    }
    byte[] appended = Arrays.copyOf(old, old.length + input.length);
    System.arraycopy(input, 0, appended, old.length, input.length);
    model.put(key, appended);
  }

  private void checkAll() {
    for (int key = 0; key < KEYS; key++) {
      checkRead(key);
    }
  }

  private void checkRead(int key) {
    BytesFunctions.Result result = new BytesFunctions.Result();
    Status status = session.read(key(key), null, result, null);
    if (status == Status.PENDING) {
      session.completePending(true);
      status = result.completed;
    }
    byte[] expected = model.get(key);
    assertThat(status).as(at(key)).isEqualTo(expected == null ? Status.NOT_FOUND : Status.FOUND);
    if (expected != null && !Arrays.equals(result.value, expected)) {
      throw new AssertionError(at(key) + " has another value of " + expected.length + " bytes");
    }
  }

  /** A cut shows the state at the time it was made, whatever happens later. */
  private void checkCut(FasterStore store) {
    Map<Integer, byte[]> expected = new HashMap<>(model);
    Map<Integer, byte[]> seen = new HashMap<>();
    try (LogCut cut = store.log().cut()) {
      someOperations(random.nextInt(20));
      try (LogScan scan = cut.scan()) {
        while (scan.next()) {
          int key = ByteBuffer.wrap(scan.key().toArray()).getInt();
          if (scan.isTombstone()) {
            seen.remove(key);
          } else {
            seen.put(key, scan.value().toArray());
          }
        }
      }
    }
    assertThat(seen.keySet()).as(title).isEqualTo(expected.keySet());
    seen.forEach((key, value) ->
        assertThat(Arrays.equals(value, expected.get(key))).as(at(key) + " in a cut").isTrue());
  }

  /** Small, about a page, many pages, more than the log's memory. */
  private byte[] value() {
    int length =
        switch (random.nextInt(6)) {
          case 0, 1 -> random.nextInt(60);
          case 2 -> PAGE_BYTES - 200 + random.nextInt(300);
          case 3 -> random.nextInt(3 * PAGE_BYTES);
          case 4 -> random.nextInt(40_000);
          default -> random.nextInt(100_000);
        };
    byte[] value = new byte[length];
    random.nextBytes(value);
    return value;
  }

  /** Keys of 4 to 260 bytes, which start with the number. */
  private static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(4 + 11 * key).putInt(key).array());
  }

  private String at(int key) {
    return title + ", key " + key;
  }
}
