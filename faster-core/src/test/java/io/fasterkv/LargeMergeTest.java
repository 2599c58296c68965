package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a store that merges, with values larger than a page and values that are too large. */
class LargeMergeTest {
  private static final int PAGE_BYTES = 4096;
  private static final int MAX = 128 << 10;
  private static final ByteSpan KEY = ByteSpan.of(new byte[] {1});
  private static final ByteSpan FILLING = ByteSpan.of(new byte[2000]);
  private static final byte[] BASE = bytes(MAX - 5_000, 1);

  @TempDir Path directory;

  private StoreConfig config(boolean inBackground, int pages) {
    return StoreConfig.builder(directory)
        .memoryBytes(4 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes((long) pages * PAGE_BYTES)
        .scratchBytes(2 * MAX + 64 * PAGE_BYTES)
        .segmentBytes(16 * PAGE_BYTES)
        .indexBytes(4096)
        .deleteOnClose(true)
        .backgroundCompaction(inBackground)
        .merge(new BytesFunctions())
        .build();
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] read(Session<byte[], BytesFunctions.Result, Object> session) {
    var result = new BytesFunctions.Result();
    assertThat(session.read(KEY, null, result, null)).isEqualTo(Status.FOUND);
    return result.value;
  }

  private static Session<byte[], BytesFunctions.Result, Object> session(FasterStore store) {
    return store.newSession().spans(new BytesFunctions());
  }

  private static void fill(Session<byte[], BytesFunctions.Result, Object> session, int times) {
    for (int i = 0; i < 60 * times; i++) {
      session.upsert(ByteSpan.of(new byte[] {2, (byte) (i % 60)}), FILLING, null);
    }
  }

  /** An update of a large value appends a delta, and only occasionally copies the value. */
  @Test
  void updatesOfALargeValueDoNotCopyItEachTime() {
    try (FasterStore store = FasterStore.open(config(false, 128), new MemoryDevice());
        var session = session(store)) {
      session.upsert(KEY, ByteSpan.of(bytes(60_000, 3)), null);
      long before = store.log().tailAddress();
      int appended = 0;
      for (int i = 0; i < 8; i++) {
        store.log().cut().close();
        appended += session.rmw(KEY, new byte[] {7}, null) == Status.DELTA_APPENDED ? 1 : 0;
      }
      assertThat(appended).isEqualTo(8);
      assertThat(store.log().tailAddress() - before).isLessThan(16 * PAGE_BYTES);
      assertThat(read(session)).hasSize(60_008);
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        assertThat(scan.next()).isTrue();
        assertThat(Arrays.equals(scan.value().toArray(), read(session))).isTrue();
      }
    }
  }

  /** In memory, the length of the result is known, so the update is refused. */
  @Test
  void anUpdateThatMakesAValueTooLargeIsRefusedAndTheValueStays() {
    StoreConfig config = config(false, 64);
    assertThat(config.maxValueBytes()).isEqualTo(MAX);
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        var session = session(store)) {
      session.upsert(KEY, ByteSpan.of(BASE), null);
      int length = BASE.length;
      while (length + 900 <= MAX) {
        session.rmw(KEY, new byte[900], null);
        length += 900;
      }
      assertThat(read(session)).hasSize(length);
      for (int i = 0; i < 20; i++) {
        assertThatThrownBy(() -> session.rmw(KEY, new byte[900], null))
            .isInstanceOf(RecordTooLarge.class)
            .hasMessageContaining("allowed=up to " + MAX);
      }
      assertThat(read(session)).hasSize(length);
      store.log().cut().close();
      store.log().compact();
      assertThat(read(session)).hasSize(length);
    }
  }

  /**
   * On disk, the length is not known: the value cannot be read, the store continues, and an upsert
   * repairs it.
   */
  @Test
  void aValueThatDeltasMadeTooLargeStopsNothingElse() {
    try (FasterStore store = FasterStore.open(config(true, 4), new MemoryDevice());
        var session = session(store)) {
      session.upsert(KEY, ByteSpan.of(BASE), null);
      fill(session, 1);
      outgrow(session);
      assertThatThrownBy(() -> read(session)).isInstanceOf(RecordTooLarge.class);
      assertThatThrownBy(
              () -> {
                fill(session, 1);
                store.log().compact();
              })
          .isInstanceOf(RecordTooLarge.class)
          .hasMessageContaining("cannot be compacted: address=")
          .hasMessageContaining("upsert or delete its key");
      // Background compaction reads such a value too.
      fill(session, 10);
      session.upsert(KEY, ByteSpan.of(BASE), null);
      fill(session, 1);
      assertThat(store.log().compact()).isPositive();
      assertThat(Arrays.equals(read(session), BASE)).isTrue();
    }
  }

  private static void outgrow(Session<byte[], BytesFunctions.Result, Object> session) {
    for (int appended = 0; appended < 3; ) {
      try {
        Status status = session.rmw(KEY, new byte[3000], null);
        appended += status == Status.DELTA_APPENDED ? 1 : 0;
      } catch (RecordTooLarge e) {
        assertThat(e).hasMessageContaining("allowed=up to " + MAX);
      }
      fill(session, 1);
    }
  }
}
