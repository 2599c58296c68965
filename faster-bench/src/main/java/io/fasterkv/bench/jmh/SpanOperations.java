package io.fasterkv.bench.jmh;

import io.fasterkv.bench.disk.DiskPlan;
import io.fasterkv.bench.disk.DiskStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Operations on keys of 8 bytes and values of several sizes, all in memory. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the method that sets up
public class SpanOperations {
  private static final long LOG_BYTES = 256L << 20;
  private static final long DATA_BYTES = 128L << 20;
  private static final double MUTABLE_FRACTION = 0.9;
  private static final int CHOSEN = 1 << 20;
  private static final int DEPTH = 32;

  @Param({"8", "32", "100"})
  public int valueBytes;

  private final long[] chosen = new long[CHOSEN];
  private Path directory;
  private DiskStore store;
  private int next;

  @Setup(Level.Trial)
  public void load() throws IOException {
    directory = Files.createTempDirectory("faster-jmh");
    DiskPlan plan = new DiskPlan(DATA_BYTES, valueBytes, DEPTH, Duration.ZERO, 1, directory);
    store = new DiskStore(directory, plan, LOG_BYTES, MUTABLE_FRACTION);
    for (long key = 0; key < plan.keys(); key++) {
      store.put(key, 0);
    }
    SplittableRandom random = new SplittableRandom(1);
    Arrays.setAll(chosen, i -> random.nextLong(plan.keys()));
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    store.close();
    Files.deleteIfExists(directory);
  }

  private long key() {
    next = (next + 1) & (CHOSEN - 1);
    return chosen[next];
  }

  @Benchmark
  public void read() {
    store.read(key(), DEPTH);
  }

  @Benchmark
  public void upsert() {
    store.put(key(), next);
  }

  @Benchmark
  public void rmw() {
    store.rmw(key());
  }
}
