package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests values that do not fit a page, at the sizes where behaviour changes. */
class LargeValueTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEY_BYTES = 8;

  /**
   * The longest value whose record fits a page: minus the first 64 bytes, a header of 24, and the
   * key.
   */
  private static final int IN_PAGE = PAGE_BYTES - 64 - 24 - KEY_BYTES;

  private static final int MAX = 256 << 10;

  private static final int[] SIZES = {
    0, 1, 4000, 4001, 4007, 4008, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 70_001, MAX - 1, MAX
  };

  @TempDir Path directory;

  private StoreConfigBuilder config() {
    return StoreConfig.builder(directory)
        .memoryBytes(2 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4 * PAGE_BYTES)
        .scratchBytes(MAX + 64 * PAGE_BYTES)
        .segmentBytes(16 * PAGE_BYTES)
        .indexBytes(1024);
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(
      FasterStore store, SessionMode mode) {
    return store.newSession().mode(mode).spans(new BytesFunctions());
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static ByteSpan key(int number) {
    return ByteSpan.of(bytes(KEY_BYTES, number));
  }

  private static byte[] read(Session<byte[], BytesFunctions.Result, Object> session, int number) {
    var result = new BytesFunctions.Result();
    Status status = session.read(key(number), null, result, null);
    if (status == Status.PENDING) {
      assertThat(session.completePending(true)).isZero();
      status = result.completed;
    }
    assertThat(status).isEqualTo(Status.FOUND);
    return result.value;
  }

  @ParameterizedTest
  @EnumSource(SessionMode.class)
  void everySizeIsGivenBack(SessionMode mode) {
    assertThat(config().build().maxValueBytes()).isEqualTo(MAX);
    Map<Integer, byte[]> expected = new LinkedHashMap<>();
    try (FasterStore store = FasterStore.open(config().build())) {
      long free = Insides.engine(store).buffers().freeBytes();
      try (var session = session(store, mode)) {
        for (int size : SIZES) {
          byte[] value = bytes(size, size);
          assertThat(session.upsert(key(size), ByteSpan.of(value), null))
              .isNotEqualTo(Status.PENDING);
          expected.put(size, value);
          assertThat(read(session, size)).isEqualTo(value);
        }
        expected.forEach((key, value) -> assertThat(read(session, key)).isEqualTo(value));
        StoreInvariants.check(store);
        store.checkpoints().take();
      }
      assertThat(Insides.engine(store).buffers().freeBytes()).isEqualTo(free);
      assertThat(store.statistics().memoryBytes())
          .isLessThanOrEqualTo(store.config().memoryBytes());
    }
    try (FasterStore store = FasterStore.recover(config().build());
        var session = session(store, mode)) {
      expected.forEach((key, value) -> assertThat(read(session, key)).isEqualTo(value));
      try (LogCut cut = store.log().cut();
          LogScan scan = cut.scan()) {
        int seen = 0;
        for (; scan.next(); seen++) {
          byte[] value = scan.value().toArray();
          assertThat(scan.key().toArray()).isEqualTo(key(value.length).toArray());
          assertThat(value).isEqualTo(expected.get(value.length));
        }
        assertThat(seen).isEqualTo(SIZES.length);
      }
      StoreInvariants.check(store);
    }
  }

  /** From every size to every size, by upsert and by RMW. */
  @Tag("slow")
  @ParameterizedTest
  @EnumSource(SessionMode.class)
  void everySizeBecomesEveryOther(SessionMode mode) {
    try (FasterStore store = FasterStore.open(config().build());
        var session = session(store, mode)) {
      for (int from : SIZES) {
        for (int to : SIZES) {
          session.upsert(key(1), ByteSpan.of(bytes(from, from)), null);
          session.upsert(key(1), ByteSpan.of(bytes(to, to)), null);
          assertThat(read(session, 1)).isEqualTo(bytes(to, to));
          if (to >= from && to <= MAX / 2) {
            session.upsert(key(1), ByteSpan.of(bytes(from, from)), null);
            Status status = session.rmw(key(1), bytes(to - from, 7), null);
            assertThat(session.completePending(true)).isZero();
            assertThat(status).isNotEqualTo(Status.CREATED);
            assertThat(read(session, 1)).isEqualTo(grown(from, to));
          }
        }
      }
      StoreInvariants.check(store);
    }
  }

  private static byte[] grown(int from, int to) {
    byte[] grown = Arrays.copyOf(bytes(from, from), to);
    System.arraycopy(bytes(to - from, 7), 0, grown, from, to - from);
    return grown;
  }

  @Test
  void anRmwMakesAFirstValueOfAnySize() {
    try (FasterStore store = FasterStore.open(config().build());
        var session = session(store, SessionMode.BLOCKING)) {
      for (int size : SIZES) {
        assertThat(session.rmw(key(size), bytes(size, size), null)).isEqualTo(Status.CREATED);
        assertThat(read(session, size)).isEqualTo(bytes(size, size));
        assertThat(session.delete(key(size), null)).isEqualTo(Status.FOUND);
        assertThat(session.read(key(size), null, null, null)).isEqualTo(Status.NOT_FOUND);
      }
    }
  }

  /** The new value needs all memory reserved for large values; the old one is stored elsewhere. */
  @ParameterizedTest
  @EnumSource(SessionMode.class)
  void anRmwFindsRoomForBothValuesIfTheyFitInAnyOrder(SessionMode mode) {
    try (FasterStore store = FasterStore.open(config().build());
        var session = session(store, mode)) {
      session.upsert(key(1), ByteSpan.of(bytes(20_000, 20_000)), null);
      session.rmw(key(1), bytes(200_000 - 20_000, 7), null);
      assertThat(session.completePending(true)).isZero();
      assertThat(read(session, 1)).isEqualTo(grown(20_000, 200_000));
    }
  }

  @Test
  void aValueThatCouldNotBeReadBackIsRefusedAndTheSessionContinues() {
    StoreConfig config = config().build();
    try (FasterStore store = FasterStore.open(config);
        var session = session(store, SessionMode.BLOCKING)) {
      session.upsert(key(1), ByteSpan.of(bytes(MAX, 1)), null);
      assertThatThrownBy(() -> session.upsert(key(1), ByteSpan.of(new byte[MAX + 1]), null))
          .isInstanceOf(RecordTooLarge.class)
          .hasMessageContaining("valueBytes=" + (MAX + 1) + ", allowed=up to " + MAX)
          .hasMessageContaining("raise scratchBytes=" + config.scratchBytes());
      assertThatThrownBy(() -> session.rmw(key(2), new byte[MAX + 1], null))
          .isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(() -> session.rmw(key(1), new byte[1], null))
          .isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(() -> session.rmw(key(1), new byte[0], null))
          .isInstanceOf(OutOfBudget.class)
          .hasMessageContaining("bytes=" + MAX + "+" + MAX);
      assertThat(read(session, 1)).isEqualTo(bytes(MAX, 1));
      assertThatThrownBy(() -> session.upsert(ByteSpan.of(new byte[2049]), key(1), null))
          .isInstanceOf(RecordTooLarge.class)
          .hasMessageContaining("keyBytes=2049, allowed=up to 2048");
      byte[] longKey = bytes(2048, 9);
      session.upsert(ByteSpan.of(longKey), ByteSpan.of(bytes(100_000, 9)), null);
      var result = new BytesFunctions.Result();
      assertThat(session.read(ByteSpan.of(longKey), null, result, null)).isEqualTo(Status.FOUND);
      assertThat(result.value).isEqualTo(bytes(100_000, 9));
    }
  }

  /**
   * The largest value that fits a record is stored in one; with one more byte, the value takes
   * chunks.
   */
  @Test
  void chunksAreForValuesThatDoNotFitAPage() {
    try (FasterStore store = FasterStore.open(config().logMemoryBytes(8 * PAGE_BYTES).build());
        var session = session(store, SessionMode.BLOCKING)) {
      session.upsert(key(1), ByteSpan.of(bytes(IN_PAGE, 1)), null);
      long before = store.statistics().logBytes();
      assertThat(session.upsert(key(1), ByteSpan.of(bytes(IN_PAGE, 2)), null))
          .isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(store.statistics().logBytes()).isEqualTo(before);
      assertThat(session.upsert(key(1), ByteSpan.of(bytes(IN_PAGE + 1, 3)), null))
          .isEqualTo(Status.COPIED);
      assertThat(read(session, 1)).isEqualTo(bytes(IN_PAGE + 1, 3));
      assertThat(session.upsert(key(1), ByteSpan.of(bytes(IN_PAGE, 4)), null))
          .isEqualTo(Status.COPIED);
      assertThat(read(session, 1)).isEqualTo(bytes(IN_PAGE, 4));
    }
  }

  @Test
  void aFullyLiveLogOfLargeValuesIsCompactedToItsSize() {
    StoreConfig config = config().deleteOnClose(true).build();
    try (FasterStore store = FasterStore.open(config);
        var session = session(store, SessionMode.BLOCKING)) {
      for (int number = 0; number < 10; number++) {
        session.upsert(key(number), ByteSpan.of(bytes(20_000 + 7 * number, number)), null);
      }
      store.log().cut().close();
      store.log().compact();
      long afterFirst = store.statistics().logBytes();
      for (int pass = 0; pass < 6; pass++) {
        store.log().cut().close();
        store.log().compact();
        assertThat(store.statistics().logBytes()).isLessThanOrEqualTo(afterFirst + 8 * PAGE_BYTES);
        for (int number = 0; number < 10; number++) {
          assertThat(read(session, number)).isEqualTo(bytes(20_000 + 7 * number, number));
        }
        StoreInvariants.check(store);
      }
    }
  }
}
