package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.RecordView;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that operations on records in memory allocate nothing once they are compiled. */
class AllocationTest {
  private static final int KEYS = 4_096;
  private static final int ROUNDS = 400;
  private static final int PASSES = 20;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir Path directory;

  @Test
  void longsAllocateNothing() {
    try (FasterStore store = open(RecordKind.LONGS);
        LongSession<Void> session =
            store.newSession().mode(SessionMode.PENDING).longs(LongFunctions.sum())) {
      long[] keys = new long[KEYS];
      Arrays.setAll(keys, i -> i);
      long[] values = new long[KEYS];
      Status[] statuses = new Status[KEYS];
      session.upsert(keys, values, statuses, 0, KEYS, null);
      assertAllocatesNothing(
          "read",
          () -> {
            for (long key : keys) {
              session.read(key, null);
            }
          });
      assertAllocatesNothing(
          "upsert",
          () -> {
            for (long key : keys) {
              session.upsert(key, key, null);
            }
          });
      assertAllocatesNothing(
          "rmw",
          () -> {
            for (long key : keys) {
              session.rmw(key, 1, null);
            }
          });
      assertAllocatesNothing(
          "batched read", () -> session.read(keys, values, statuses, 0, KEYS, null));
      assertAllocatesNothing(
          "batched upsert", () -> session.upsert(keys, values, statuses, 0, KEYS, null));
      assertAllocatesNothing(
          "batched rmw", () -> session.rmw(keys, values, statuses, 0, KEYS, null));
    }
  }

  @Test
  void spansAllocateNothing() {
    try (Arena arena = Arena.ofConfined();
        FasterStore store = open(RecordKind.SPANS);
        Session<Void, long[], Void> session =
            store.newSession().mode(SessionMode.PENDING).spans(new Counter())) {
      ByteSpan[] keys = new ByteSpan[KEYS];
      MemorySegment bytes = arena.allocate((long) KEYS * Long.BYTES, Long.BYTES);
      for (int i = 0; i < KEYS; i++) {
        keys[i] = new ByteSpan().wrap(bytes, (long) i * Long.BYTES, Long.BYTES, Long.BYTES);
        keys[i].putLong(0, i);
      }
      Status[] statuses = new Status[KEYS];
      session.upsert(keys, keys, statuses, KEYS, null);
      long[] output = new long[1];
      long[][] outputs = new long[KEYS][];
      Arrays.fill(outputs, output);
      assertAllocatesNothing(
          "read",
          () -> {
            for (ByteSpan key : keys) {
              session.read(key, null, output, null);
            }
          });
      assertAllocatesNothing(
          "upsert",
          () -> {
            for (ByteSpan key : keys) {
              session.upsert(key, key, null);
            }
          });
      assertAllocatesNothing(
          "rmw",
          () -> {
            for (ByteSpan key : keys) {
              session.rmw(key, null, null);
            }
          });
      assertAllocatesNothing(
          "batched read", () -> session.read(keys, null, outputs, statuses, KEYS, null));
      assertAllocatesNothing(
          "batched upsert", () -> session.upsert(keys, keys, statuses, KEYS, null));
      assertAllocatesNothing("batched rmw", () -> session.rmw(keys, null, statuses, KEYS, null));
    }
  }

  private FasterStore open(RecordKind kind) {
    return FasterStore.open(
        StoreConfig.builder(directory)
            .recordKind(kind)
            .memoryBytes(16 << 20)
            .deleteOnClose(true)
            .build());
  }

  /**
   * Repeats the operation until several consecutive runs have allocated nothing, as is the case
   * once everything is compiled. If that never happens, something allocates.
   */
  private static void assertAllocatesNothing(String what, Runnable pass) {
    int clean = 0;
    long last = 0;
    for (int round = 0; round < ROUNDS * PASSES && clean < PASSES; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      pass.run();
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      clean = allocated == 0 ? clean + 1 : 0;
      last = allocated == 0 ? last : allocated;
    }
    assertThat(clean).as(what + " allocates, bytes in " + KEYS + ": " + last).isEqualTo(PASSES);
  }

  /** Adds one to a number. */
  private static final class Counter implements StoreFunctions<Void, long[], Void> {
    @Override
    public void singleReader(
        ByteSpan key, Void input, ByteSpan value, long[] output, RecordView record) {
      output[0] = value.getLong(0);
    }

    @Override
    public int initialBytes(ByteSpan key, Void input) {
      return Long.BYTES;
    }

    @Override
    public void initialUpdater(
        ByteSpan key, Void input, ByteSpan value, long[] output, RecordView record) {
      value.putLong(0, 1);
      value.setLength(Long.BYTES);
    }

    @Override
    public boolean inPlaceUpdater(
        ByteSpan key, Void input, ByteSpan value, long[] output, RecordView record) {
      value.putLong(0, value.getLong(0) + 1);
      return true;
    }

    @Override
    public int copyBytes(ByteSpan key, Void input, ByteSpan oldValue) {
      return Long.BYTES;
    }

    @Override
    public void copyUpdater(
        ByteSpan key,
        Void input,
        ByteSpan oldValue,
        ByteSpan newValue,
        long[] output,
        RecordView record) {
      newValue.putLong(0, oldValue.getLong(0) + 1);
      newValue.setLength(Long.BYTES);
    }
  }
}
