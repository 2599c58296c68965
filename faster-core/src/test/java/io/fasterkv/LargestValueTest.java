package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.StoreFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A value of 1 GiB, in a log with 64 MiB of memory: written, read back from disk, recovered, and
 * read again; and a value of one byte more. Takes 2.5 GiB of memory and 1 GiB of disk.
 */
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
          var session = store.newSession(functions, SessionMode.BLOCKING)) {
        long start = System.nanoTime();
        assertThat(session.upsert(KEY, value, null)).isEqualTo(Status.CREATED);
        report("written", start);
        assertFound(store, functions, SessionMode.BLOCKING);
        assertThatThrownBy(() -> session.upsert(KEY, tooLong, null))
            .isInstanceOf(RecordTooLarge.class)
            .hasMessageContaining(
                "valueBytes=1073741825, allowed=up to 1073741824; split the value");
        assertFound(store, functions, SessionMode.PENDING);
        assertThat(store.memoryBytes()).isLessThanOrEqualTo(config().memoryBytes());
        start = System.nanoTime();
        store.checkpoint();
        report("in a checkpoint", start);
      }
      try (FasterStore store = FasterStore.recover(config())) {
        assertFound(store, functions, SessionMode.BLOCKING);
      }
    }
  }

  private static void assertFound(FasterStore store, Comparing functions, SessionMode mode) {
    long start = System.nanoTime();
    try (var session = store.newSession(functions, mode)) {
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

  /** Compares what is read with what was written. */
  private static final class Comparing implements StoreFunctions<Void, Void, Void> {
    private final MemorySegment expected;
    private int matches;

    Comparing(MemorySegment expected) {
      this.expected = expected;
    }

    @Override
    public void singleReader(ByteSpan key, Void input, ByteSpan value, Void output) {
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
    public void initialUpdater(ByteSpan key, Void input, ByteSpan value) {
      value.setLength(0);
    }

    @Override
    public boolean inPlaceUpdater(ByteSpan key, Void input, ByteSpan value) {
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return oldValue.length();
    }

    @Override
    public void copyUpdater(ByteSpan key, Void input, ByteSpan oldValue, ByteSpan newValue) {
      newValue.setTo(oldValue);
    }
  }
}
