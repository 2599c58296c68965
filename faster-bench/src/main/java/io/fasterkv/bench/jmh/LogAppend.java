package io.fasterkv.bench.jmh;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.LogPosition;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Measures appending at the log's tail, including turns of pages and their flush to nowhere. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the method that sets up
public class LogAppend {
  private static final long RECORD_BYTES = 24;

  private Path directory;
  private OffHeapArena arena;
  private HybridLog log;
  private EpochUser user;
  private FasterStore store;
  private LongSession<Void> session;

  @Setup(Level.Trial)
  public void open() throws IOException {
    directory = Files.createTempDirectory("faster-jmh");
    StoreConfig config =
        StoreConfig.builder(directory)
            .recordKind(RecordKind.LONGS)
            .memoryBytes(64L << 20)
            .mutableFraction(0)
            .deleteOnClose(true)
            .build();
    StoreFailure failure = new StoreFailure(System.getLogger("test"));
    Epochs epochs = new Epochs(config.maxSessions(), failure);
    arena = new OffHeapArena(new MemoryBudget(config.memoryBytes()));
    log = new HybridLog(config, arena, epochs, new NoDevice(), LogPosition.start(), failure);
    user = epochs.register();
    store = FasterStore.open(config, new NoDevice());
    session = store.newSession().longs(LongFunctions.sum());
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    session.close();
    store.close();
    user.close();
    log.close();
    arena.close();
    Files.deleteIfExists(directory);
  }

  @Benchmark
  public long allocate() {
    user.protect();
    long address = log.allocate(RECORD_BYTES);
    while (address == HybridLog.RETRY) {
      user.refresh();
      log.assist();
      address = log.allocate(RECORD_BYTES);
    }
    user.unprotect();
    return address;
  }

  @Benchmark
  public Status upsertThatAppends() {
    return session.upsert(1, 2, null);
  }
}
