package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.device.FileDevice;
import io.fasterkv.sim.ScriptedDevice;
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
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A store that is closed while other threads are at work on it as a whole. */
class CloseTest {
  private static final int KEYS = 3_000;
  private static final int ROUNDS = 15;
  private static final long PATIENCE_SECONDS = 60;

  /** A thread for each. */
  private static final Executor OTHER = task -> Thread.ofPlatform().daemon().start(task);

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  private StoreConfig.Builder config(String name) {
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
    try (LongSession<Void> session =
        store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, value, null);
      }
    }
  }

  private static void assertHolds(FasterStore store, long value) {
    try (LongSession<Void> session =
        store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
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
      prepared.checkpoint();
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
            () -> store.checkpoint(CheckpointRequest.full(CheckpointKind.SNAPSHOT)), OTHER);
    isForcing.await();
    CompletableFuture<Void> close = CompletableFuture.runAsync(store::close, OTHER);
    assertThatThrownBy(() -> close.get(300, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    assertThatThrownBy(store::checkpoint).isInstanceOf(Closed.class);
    assertThatThrownBy(store::growIndex).isInstanceOf(Closed.class);
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

  /** Nobody works on memory that was given back, and nothing hangs. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void allThatIsUnderWayEndsOrIsTurnedAway(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < ROUNDS; round++) {
      boolean isInMemory = random.nextInt(4) == 0;
      StoreConfig.Builder builder =
          isInMemory ? inMemory() : config("store-" + round).deleteOnClose(true);
      FasterStore store =
          FasterStore.open(builder.backgroundCompaction(random.nextBoolean()).build());
      fill(store, round);
      fill(store, round + 1);
      Crew crew = new Crew("seed " + seed + ", round " + round, () -> "closing");
      if (!isInMemory) {
        crew.add(() -> untilClosed(store::checkpoint));
        crew.add(() -> untilClosed(() -> store.export().close()));
        crew.add(() -> untilClosed(() -> store.checkpoints().forEach(store::removeCheckpoint)));
      }
      crew.add(() -> untilClosed(store::compact));
      crew.add(() ->
          untilClosed(() -> {
            store.growIndex();
            store.shrinkIndex();
          }));
      crew.add(() ->
          untilClosed(() -> store.truncate((store.beginAddress() + store.tailAddress()) / 2)));
      long nanos = random.nextLong(20_000_000);
      crew.add(() -> {
        LockSupport.parkNanos(nanos);
        store.close();
      });
      crew.run();
    }
  }

  private static StoreConfig.Builder inMemory() {
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
        CompletableFuture.supplyAsync(store::checkpoint, OTHER);
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
      try (StoreExport export = store.export();
          StoreExport.Digest digest = export.tryDigest();
          StoreImport.Target into = StoreImport.of(export.head(), "h").into(target.directory())) {
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
  void isRefusedToWhatACheckpointHasCalled() {
    FasterStore store = FasterStore.open(config("store").build());
    store.onCommit(commit -> store.close());
    assertThatThrownBy(store::checkpoint)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot be closed by what a checkpoint");
    fill(store, 1);
    store.close();
    store.close();
    assertThatThrownBy(store::checkpoint).isInstanceOf(Closed.class);
  }
}
