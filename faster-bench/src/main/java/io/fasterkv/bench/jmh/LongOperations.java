package io.fasterkv.bench.jmh;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Operations on {@code long} keys and values: one at a time, and 32 at a time. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the method that sets up
public class LongOperations {
  private static final int BATCH = 32;
  private static final int CHOSEN = 1 << 20;
  private static final long BYTES_PER_KEY = 96;
  private static final long ROOM_BYTES = 64L << 20;

  @Param({"1000", "4000000"})
  public int keys;

  private final long[] chosen = new long[CHOSEN];
  private final long[] values = new long[BATCH];
  private final long[] ones = new long[BATCH];
  private final long[] batch = new long[BATCH];
  private final Status[] statuses = new Status[BATCH];
  private Path directory;
  private FasterStore store;
  private LongSession<Void> session;
  private int next;

  @Setup(Level.Trial)
  public void load() throws IOException {
    directory = Files.createTempDirectory("faster-jmh");
    store =
        FasterStore.open(
            StoreConfig.builder(directory)
                .recordKind(RecordKind.LONGS)
                .memoryBytes(keys * BYTES_PER_KEY + ROOM_BYTES)
                .deleteOnClose(true)
                .build());
    session = store.newSession().longs(LongFunctions.sum());
    for (long key = 0; key < keys; key++) {
      session.upsert(key, key, null);
    }
    SplittableRandom random = new SplittableRandom(1);
    Arrays.setAll(chosen, i -> random.nextLong(keys));
    Arrays.fill(ones, 1);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    session.close();
    store.close();
    Files.deleteIfExists(directory);
  }

  private long key() {
    next = (next + 1) & (CHOSEN - 1);
    return chosen[next];
  }

  private void chooseBatch() {
    next = (next + BATCH) & (CHOSEN - 1);
    System.arraycopy(chosen, next & -BATCH, batch, 0, BATCH);
  }

  @Benchmark
  public long read() {
    return session.read(key(), null) == Status.FOUND ? session.value() : -1;
  }

  @Benchmark
  public Status upsert() {
    return session.upsert(key(), next, null);
  }

  @Benchmark
  public Status rmw() {
    return session.rmw(key(), 1, null);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] readBatch() {
    chooseBatch();
    session.read(batch, values, statuses, 0, BATCH, null);
    return values;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public Status[] upsertBatch() {
    chooseBatch();
    session.upsert(batch, ones, statuses, 0, BATCH, null);
    return statuses;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public Status[] rmwBatch() {
    chooseBatch();
    session.rmw(batch, ones, statuses, 0, BATCH, null);
    return statuses;
  }
}
