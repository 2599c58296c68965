package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a value of 1 GiB in a log with 64 MiB of memory: it is written, read back from disk,
 * recovered, and read again. A value of one byte more is refused. Takes 2.5 GiB of memory and 1 GiB
 * of disk.
 */
@Tag("long")
class LargestValueTest {
  private static final int GIB = 1 << 30;
  private static final long PATTERN = 0x9E3779B97F4A7C15L;
  private static final ByteSpan KEY = ByteSpan.of(new byte[] {1, 2, 3, 4, 5});

  @TempDir Path directory;

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(GIB + (400L << 20))
        .pageBytes(16 << 20)
        .logMemoryBytes(64 << 20)
        .scratchBytes(GIB + (GIB / 10))
        .indexBytes(1 << 20)
        .build();
  }

  @Test
  void aGibibyteIsGivenBackAndAByteMoreIsRefused() {
    assertThat(config().maxValueBytes()).isEqualTo(GIB);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment bytes = arena.allocate(GIB + (long) Long.BYTES, Long.BYTES);
      for (long at = 0; at < bytes.byteSize(); at += Long.BYTES) {
        bytes.set(ValueLayout.JAVA_LONG, at, (at + 1) * PATTERN);
      }
      Comparing functions = new Comparing(bytes);
      ByteSpan value = new ByteSpan().wrap(bytes, 0, GIB, GIB);
      ByteSpan tooLong = new ByteSpan().wrap(bytes, 0, GIB + 1, GIB + 1);
      try (FasterStore store = FasterStore.open(config());
          var session = store.newSession().spans(functions)) {
        long start = System.nanoTime();
        assertThat(session.upsert(KEY, value, null)).isEqualTo(Status.CREATED);
        report("written", start);
        assertFound(store, functions, SessionMode.BLOCKING);
        assertThatThrownBy(() -> session.upsert(KEY, tooLong, null))
            .isInstanceOf(RecordTooLarge.class)
            .hasMessageContaining(
                "valueBytes=1073741825, allowed=up to 1073741824; split the value");
        assertFound(store, functions, SessionMode.PENDING);
        assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(config().memoryBytes());
        start = System.nanoTime();
        store.checkpoints().take();
        report("in a checkpoint", start);
      }
      try (FasterStore store = FasterStore.recover(config())) {
        assertFound(store, functions, SessionMode.BLOCKING);
      }
    }
  }

  private static void assertFound(FasterStore store, Comparing functions, SessionMode mode) {
    long start = System.nanoTime();
    try (var session = store.newSession().mode(mode).spans(functions)) {
      functions.matches = 0;
      Status status = session.read(KEY, null, null, null);
      session.completePending(true);
      assertThat(status).isIn(Status.FOUND, Status.PENDING);
      assertThat(functions.matches).isEqualTo(1);
    }
    report("read, " + mode, start);
  }

  private static void report(String what, long start) {
    System.out.println("1 GiB " + what + ": " + (System.nanoTime() - start) / 1_000_000 + " ms");
  }

  /** Compares the bytes read with those written. */
  private static final class Comparing implements StoreFunctions<Void, Void, Void> {
    private final MemorySegment expected;
    private int matches;

    Comparing(MemorySegment expected) {
      this.expected = expected;
    }

    @Override
    public void singleReader(
        ByteSpan key, Void input, ByteSpan value, Void output, RecordView record) {
      long at = value.offset();
      long end = at + value.length();
      boolean isSame =
          value.length() == GIB
              && MemorySegment.mismatch(value.memory(), at, end, expected, 0, GIB) < 0;
      matches += isSame ? 1 : 0;
    }

    @Override
    public int initialBytes(ByteSpan key, Void input) {
      return 0;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Void input, ByteSpan value, Void output, RecordView record) {
      value.setLength(0);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Void input, ByteSpan value, Void output, RecordView record) {
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return oldValue.length();
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Void input,
        ByteSpan oldValue,
        ByteSpan newValue,
        Void output,
        RecordView record) {
      newValue.setTo(oldValue);
    }
  }
}
