package io.fasterkv.bench.jmh;

import io.fasterkv.bench.workload.Mix;
import io.fasterkv.index.HashIndex;
import io.fasterkv.index.IndexEntry;
import io.fasterkv.index.IndexGeometry;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
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

/** Looks up hashes in the index: in the cache with few entries, in memory with many. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the method that sets up
public class IndexLookup {
  private static final int BYTES_PER_KEY = 32;
  private static final long ROOM_BYTES = 1 << 20;

  @Param({"10000", "4000000"})
  public int entries;

  private final IndexEntry entry = new IndexEntry();
  private OffHeapArena arena;
  private HashIndex index;
  private int next;

  @Setup(Level.Trial)
  public void fill() {
    long bytes = (long) entries * BYTES_PER_KEY;
    arena = new OffHeapArena(new MemoryBudget(bytes + ROOM_BYTES));
    index = new HashIndex(arena, IndexGeometry.of(bytes), 0);
    for (int i = 0; i < entries; i++) {
      find(Mix.mix(i));
      index.compareAndSet(entry, 64L + 24L * i);
    }
  }

  @TearDown(Level.Trial)
  public void close() {
    arena.close();
  }

  private void find(long hash) {
    if (!index.enter(hash, entry)) {
      throw new IllegalStateException("the index is being resized");
    }
    index.findOrCreate(hash, entry);
  }

  @Benchmark
  public long findHit() {
    next = (next + 7_919) % entries;
    long hash = Mix.mix(next);
    return index.enter(hash, entry) && index.find(hash, entry) ? entry.address() : 0;
  }

  @Benchmark
  public long findMiss() {
    next = (next + 7_919) % entries;
    long hash = Mix.mix(-1L - next);
    return index.enter(hash, entry) && index.find(hash, entry) ? entry.address() : 0;
  }
}
