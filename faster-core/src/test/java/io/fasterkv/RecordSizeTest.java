package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests keys and values at the sizes where behaviour changes: words, first reads, sectors, pages.
 */
@Tag("seeds")
class RecordSizeTest {
  private static final int PAGE_BYTES = 4096;
  private static final int HEADER_BYTES = 24;

  /** A page without the 64 bytes at the start of the first one. */
  private static final int MAX_RECORD_BYTES = PAGE_BYTES - 64;

  private static final int[] SIZES = {
    0, 1, 7, 8, 9, 15, 16, 17, 24, 463, 464, 465, 487, 488, 489, 511, 512, 513, 1023, 1024, 1025
  };

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4 * PAGE_BYTES)
        .indexBytes(1024)
        .build();
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(
      FasterStore store, SessionMode mode) {
    return store.newSession().mode(mode).spans(new BytesFunctions());
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new java.util.Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static int maxValueBytes(int keyBytes) {
    return MAX_RECORD_BYTES - HEADER_BYTES - (keyBytes + 7) / 8 * 8;
  }

  private static void assertHolds(
      FasterStore store, SessionMode mode, Map<ByteBuffer, byte[]> expected) {
    try (var session = session(store, mode)) {
      expected.forEach((key, value) -> {
        String title = "key of " + key.remaining() + " bytes, value of " + value.length;
        var result = new BytesFunctions.Result();
        Status status = session.read(ByteSpan.of(MemorySegment.ofBuffer(key)), null, result, null);
        if (status == Status.PENDING) {
          session.completePending(true);
          status = result.completed;
        }
        assertThat(status).as(title).isEqualTo(Status.FOUND);
        assertThat(result.value).as(title).isEqualTo(value);
      });
    }
    assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(store.config().memoryBytes());
  }

  /** Every size of key with every size of value: in memory, on disk, in a scan, and recovered. */
  @Test
  void allSizesAreHeld() {
    Map<ByteBuffer, byte[]> expected = new LinkedHashMap<>();
    try (FasterStore store = FasterStore.open(config())) {
      try (var session = session(store, SessionMode.BLOCKING)) {
        for (int keyBytes : SIZES) {
          for (int valueBytes : SIZES) {
            byte[] key = bytes(keyBytes, keyBytes);
            byte[] value = bytes(valueBytes, valueBytes);
            session.upsert(ByteSpan.of(key), ByteSpan.of(value), null);
            expected.put(ByteBuffer.wrap(key), value);
            var result = new BytesFunctions.Result();
            assertThat(session.read(ByteSpan.of(key), null, result, null)).isEqualTo(Status.FOUND);
            assertThat(result.value).isEqualTo(value);
          }
        }
      }
      assertHolds(store, SessionMode.BLOCKING, expected);
      assertHolds(store, SessionMode.PENDING, expected);
      assertThat(scan(store)).hasSameSizeAs(expected);
      StoreInvariants.check(store);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config())) {
      assertHolds(store, SessionMode.PENDING, expected);
      expected.forEach(
          (key, value) -> assertThat(scan(store).get(key)).as("scanned").isEqualTo(value));
    }
  }

  private static Map<ByteBuffer, byte[]> scan(FasterStore store) {
    Map<ByteBuffer, byte[]> found = new LinkedHashMap<>();
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan()) {
      while (scan.next()) {
        found.put(ByteBuffer.wrap(scan.key().toArray()), scan.value().toArray());
      }
    }
    return found;
  }

  /** A record may be as large as a page allows; with one more byte, its value is in chunks. */
  @Test
  void aValueGrowsBeyondItsPageAndNoFurtherThanTheStoreCanLend() {
    Map<ByteBuffer, byte[]> expected = new LinkedHashMap<>();
    int allowed = config().maxValueBytes();
    try (FasterStore store = FasterStore.open(config())) {
      try (var session = session(store, SessionMode.BLOCKING)) {
        for (int keyBytes : SIZES) {
          byte[] key = bytes(keyBytes, keyBytes);
          int max = maxValueBytes(keyBytes);
          assertThatThrownBy(
                  () -> session.upsert(ByteSpan.of(key), ByteSpan.of(new byte[allowed + 1]), null))
              .isInstanceOf(RecordTooLarge.class)
              .hasMessageContaining("valueBytes=" + (allowed + 1))
              .hasMessageContaining("allowed=up to " + allowed);
          assertThatThrownBy(() -> session.rmw(ByteSpan.of(key), new byte[allowed + 1], null))
              .isInstanceOf(RecordTooLarge.class);
          byte[] value = bytes(max, keyBytes);
          session.upsert(ByteSpan.of(key), ByteSpan.of(value), null);
          assertThatThrownBy(() -> session.rmw(ByteSpan.of(key), new byte[allowed + 1 - max], null))
              .isInstanceOf(RecordTooLarge.class);
          session.rmw(ByteSpan.of(key), new byte[1], null);
          expected.put(ByteBuffer.wrap(key), Arrays.copyOf(value, max + 1));
        }
      }
      assertHolds(store, SessionMode.BLOCKING, expected);
      assertHolds(store, SessionMode.PENDING, expected);
      StoreInvariants.check(store);
    }
  }

  @Test
  void aKeyThatDoesNotFitHalfAPageIsRefusedByEveryOperation() {
    byte[] key = new byte[PAGE_BYTES / 2 + 1];
    try (FasterStore store = FasterStore.open(config());
        var session = session(store, SessionMode.BLOCKING)) {
      long used = store.statistics().memoryBytes();
      ByteSpan tooLong = ByteSpan.of(key);
      assertThatThrownBy(() -> session.upsert(tooLong, ByteSpan.of(new byte[1]), null))
          .isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(() -> session.rmw(tooLong, new byte[1], null))
          .isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(() -> session.read(tooLong, null, null, null))
          .isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(() -> session.delete(tooLong, null)).isInstanceOf(RecordTooLarge.class);
      session.upsert(ByteSpan.of(new byte[3]), ByteSpan.of(new byte[1]), null);
      assertThat(store.statistics().memoryBytes()).isEqualTo(used);
    }
  }

  /** Values shrink and grow in place; the records before and after them do not change. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void neighboursOfAValueThatGrowsAndShrinksStayAsTheyAre(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] room = {64, 1, 500, 9, 8, 7, 1000};
    byte[][] values = new byte[room.length][];
    try (FasterStore store = FasterStore.open(config());
        var session = session(store, SessionMode.BLOCKING)) {
      for (int i = 0; i < room.length; i++) {
        values[i] = bytes(room[i], i);
        session.upsert(key(i), ByteSpan.of(values[i]), null);
      }
      for (int step = 0; step < 3000; step++) {
        int i = random.nextInt(room.length);
        // Capacity is in whole words.
        int length = random.nextInt((room[i] + 7) / 8 * 8 + 1);
        values[i] = bytes(length, step);
        Status status = session.upsert(key(i), ByteSpan.of(values[i]), null);
        assertThat(status).as("seed " + seed).isEqualTo(Status.UPDATED_IN_PLACE);
        for (int neighbour = 0; neighbour < room.length; neighbour++) {
          var result = new BytesFunctions.Result();
          session.read(key(neighbour), null, result, null);
          if (!Arrays.equals(result.value, values[neighbour])) {
            throw new AssertionError("seed " + seed + ", step " + step + ", value " + neighbour);
          }
        }
      }
      StoreInvariants.check(store);
    }
  }

  private static ByteSpan key(int i) {
    return ByteSpan.of(new byte[] {(byte) i});
  }
}
