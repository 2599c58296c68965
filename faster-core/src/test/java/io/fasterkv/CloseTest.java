package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests closing a store while other threads work on the whole store. */
@Tag("seeds")
class CloseTest {
  private static final int KEYS = 3_000;

  /** The last key of {@link #fill}, which is updated in place. */
  private static final long NEWEST = KEYS - 1;

  private static final int ROUNDS = 15;
  private static final long PATIENCE_SECONDS = 60;

  /** Starts a thread for each task. */
  private static final Executor OTHER = task -> Thread.ofPlatform().daemon().start(task);

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  private StoreConfigBuilder config(String name) {
    return StoreConfig.builder(directory.resolve(name))
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(64 << 10)
        .segmentBytes(32768)
        .indexBytes(64 << 10)
        .maxIndexBytes(256 << 10)
        .recordKind(RecordKind.LONGS);
  }

  private static void fill(FasterStore store, long value) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, value, null);
      }
    }
  }

  private static void assertHolds(FasterStore store, long value) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.read(key, null);
        assertThat(session.value()).isEqualTo(value);
      }
    }
  }

  @Test
  void waitsForACheckpointThatIsUnderWay() throws Exception {
    StoreConfig config = config("store").build();
    CountDownLatch isForcing = new CountDownLatch(1);
    CountDownLatch mayForce = new CountDownLatch(1);
    try (FasterStore prepared = FasterStore.open(config)) {
      fill(prepared, 1);
      prepared.checkpoints().take();
    }
    ScriptedDevice device =
        new ScriptedDevice(new FileDevice(config.directory(), config.segmentBytes()));
    device.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void beforeForce() {
            isForcing.countDown();
            awaitQuietly(mayForce);
          }
        });
    FasterStore store = FasterStore.recover(config, RecoveryRequest.newest(), device);
    fill(store, 2);
    CompletableFuture<CheckpointToken> checkpoint =
        CompletableFuture.supplyAsync(
            () -> store.checkpoints().take(CheckpointRequest.full(CheckpointKind.SNAPSHOT)), OTHER);
    isForcing.await();
    CompletableFuture<Void> close = CompletableFuture.runAsync(store::close, OTHER);
    assertThatThrownBy(() -> close.get(300, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    assertThatThrownBy(store.checkpoints()::take).isInstanceOf(Closed.class);
    assertThatThrownBy(store.index()::grow).isInstanceOf(Closed.class);
    mayForce.countDown();
    assertThat(checkpoint.get(PATIENCE_SECONDS, TimeUnit.SECONDS).number()).isEqualTo(2);
    close.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    try (FasterStore again = FasterStore.recover(config)) {
      assertHolds(again, 2);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** No thread accesses freed memory, and nothing hangs. */
  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void allThatIsUnderWayEndsOrIsTurnedAway(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < ROUNDS; round++) {
      boolean isInMemory = random.nextInt(4) == 0;
      StoreConfigBuilder builder =
          isInMemory ? inMemory() : config("store-" + round).deleteOnClose(true);
      FasterStore store =
          FasterStore.open(builder.backgroundCompaction(random.nextBoolean()).build());
      fill(store, round);
      fill(store, round + 1);
      Crew crew = new Crew("seed " + seed + ", round " + round, () -> "closing");
      if (!isInMemory) {
        crew.add(() -> untilClosed(store.checkpoints()::take));
        crew.add(() -> untilClosed(() -> store.integration().export().close()));
        crew.add(() ->
            untilClosed(() -> store.checkpoints().list().forEach(store.checkpoints()::remove)));
      }
      crew.add(() -> untilClosed(store.log()::compact));
      crew.add(() ->
          untilClosed(() -> {
            store.index().grow();
            store.index().shrink();
          }));
      crew.add(() ->
          untilClosed(() ->
              store.log().truncate((store.log().beginAddress() + store.log().tailAddress()) / 2)));
      long nanos = random.nextLong(20_000_000);
      crew.add(() -> {
        LockSupport.parkNanos(nanos);
        store.close();
      });
      crew.run();
    }
  }

  private static StoreConfigBuilder inMemory() {
    return StoreConfig.inMemory()
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(256 << 10)
        .indexBytes(64 << 10)
        .maxIndexBytes(256 << 10)
        .recordKind(RecordKind.LONGS);
  }

  private static void untilClosed(Runnable work) {
    try {
      while (true) {
        work.run();
      }
    } catch (Closed e) {
      assertThat(e).hasMessageContaining("the store is closed: directory=");
    }
  }

  @Test
  void endsACheckpointThatWaitsForALogThatDoesNotCome() throws Exception {
    StoreConfig config = config("second").build();
    List<Run> runs = exported(config);
    MemoryOrigin origin = new MemoryOrigin(runs).refusing(Integer.MAX_VALUE);
    FasterStore store = FasterStore.recover(config, RecoveryRequest.newest().from(origin));
    CompletableFuture<CheckpointToken> checkpoint =
        CompletableFuture.supplyAsync(store.checkpoints()::take, OTHER);
    assertThatThrownBy(() -> checkpoint.get(100, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    CompletableFuture.runAsync(store::close, OTHER).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThatThrownBy(checkpoint::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(DeviceFailed.class)
        .hasMessageContaining("closed before its log was copied");
    assertThat(origin.isClosed()).isTrue();
  }

  private List<Run> exported(StoreConfig target) throws IOException {
    try (FasterStore store = FasterStore.open(config("first").build())) {
      fill(store, 1);
      try (StoreExport export = store.integration().export();
          StoreExport.Digest digest = export.tryDigest();
          StoreImport.Target into =
              FasterStore.readExport(export.head(), "h").into(target.directory())) {
        export.awaitWritten();
        List<LogPiece> pieces = export.pieces(0);
        List<byte[]> contents = new ArrayList<>();
        for (LogPiece piece : pieces) {
          MemorySegment bytes = MemorySegment.ofArray(new byte[piece.bytes()]);
          export.read(piece, bytes);
          digest.add(piece, bytes);
          contents.add((byte[]) bytes.heapBase().orElseThrow());
        }
        into.finish(pieces);
        return List.of(new Run(pieces, contents, digest.bytes()));
      }
    }
  }

  @Test
  void closeIsRefusedWithinAFunctionOfASession() {
    FasterStore store = FasterStore.open(config("store").build());
    fill(store, 1);
    try (LongSession<Void> session = store.newSession().longs(new SlowSum(store::close))) {
      assertThatThrownBy(() -> session.rmw(NEWEST, 1, null))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("within a function of its own session");
      session.read(NEWEST, null);
      assertThat(session.value()).isEqualTo(1);
    }
    store.close();
  }

  /** The operation reads the index and the log without checks, so their memory must still exist. */
  @Test
  void closeWaitsForAnOperationInItsFunction() throws Exception {
    FasterStore store = FasterStore.open(config("store").build());
    fill(store, 1);
    Pause pause = new Pause();
    LongSession<Void> session = store.newSession().longs(new SlowSum(pause));
    AtomicLong sum = new AtomicLong();
    pause.start(() -> {
      assertThat(session.rmw(NEWEST, 1, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      sum.set(session.value());
    });
    CompletableFuture<Void> closed = CompletableFuture.runAsync(store::close, OTHER);
    assertThatThrownBy(() -> closed.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    pause.finish();
    closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(sum).hasValue(2);
  }

  /** A session that was not closed, after its store: an error, whatever path it used before. */
  @Test
  void operationsOfAClosedStoreThrow() {
    FasterStore store = FasterStore.open(config("store").build());
    fill(store, 1);
    LongSession<Void> session = store.newSession().longs(LongFunctions.sum());
    assertThat(session.rmw(NEWEST, 1, null)).isEqualTo(Status.UPDATED_IN_PLACE);
    store.close();
    session.prefetch(NEWEST);
    long[] keys = {NEWEST, NEWEST - 1, NEWEST - 2};
    assertThatThrownBy(() -> session.read(NEWEST, null)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.rmw(NEWEST, 1, null))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.upsert(NEWEST, 1, null))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.read(keys, new long[3], new Status[3], 0, 3, null))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void closeIsRefusedWithinACheckpoint() {
    FasterStore store = FasterStore.open(config("store").build());
    store.checkpoints().onCommit(commit -> store.close());
    assertThatThrownBy(store.checkpoints()::take)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot be closed from within its own checkpoint");
    fill(store, 1);
    store.close();
    store.close();
    assertThatThrownBy(store.checkpoints()::take).isInstanceOf(Closed.class);
  }
}
