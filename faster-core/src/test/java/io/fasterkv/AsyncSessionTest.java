package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.RecordTooLarge;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.sim.ScriptedDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests operations that return stages, which complete without polling. */
class AsyncSessionTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 5_000;

  @TempDir Path directory;

  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());
  private final ExecutorService executor = Executors.newFixedThreadPool(2);
  private final Queue<Runnable> kept = new ConcurrentLinkedQueue<>();

  @AfterEach
  void shutDown() {
    executor.shutdownNow();
  }

  private StoreConfig config(RecordKind kind) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(4L * PAGE_BYTES)
        .indexBytes(64 << 10)
        .recordKind(kind)
        .build();
  }

  private FasterStore longs() {
    return FasterStore.open(config(RecordKind.LONGS), device);
  }

  private static <T> T end(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static boolean isDone(CompletionStage<?> stage) {
    return stage.toCompletableFuture().isDone();
  }

  private static void fill(AsyncLongSession session) {
    for (long key = 0; key < KEYS; key++) {
      assertThat(isDone(session.upsert(key, key))).isTrue();
    }
  }

  /** Keeps completions until they are released. */
  private void keepCompletions() {
    device.setScript(
        new ScriptedDevice.Script() {
          @Override
          public void complete(Runnable completion) {
            kept.add(completion);
          }
        });
  }

  private void release() {
    device.setScript(ScriptedDevice.Script.NONE);
    for (Runnable next = kept.poll(); next != null; next = kept.poll()) {
      next.run();
    }
  }

  @Test
  void manyReadsAndUpdatesEndByThemselves() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor)) {
      fill(session);
      List<CompletionStage<LongResult>> updates = new ArrayList<>();
      for (long key = 0; key < KEYS; key++) {
        updates.add(session.rmw(key, 1));
      }
      updates.forEach(
          update -> assertThat(end(update).status()).isIn(Status.COPIED, Status.UPDATED_IN_PLACE));
      List<CompletionStage<LongResult>> reads = new ArrayList<>();
      for (long key = 0; key < 2 * KEYS; key++) {
        reads.add(session.read(key));
      }
      for (int key = 0; key < KEYS; key++) {
        assertThat(end(reads.get(key))).isEqualTo(new LongResult(Status.FOUND, key + 1));
        assertThat(end(reads.get(KEYS + key))).isEqualTo(new LongResult(Status.NOT_FOUND, 0));
      }
    }
  }

  /** Several threads use one session, and so do actions that depend on a stage. */
  @Test
  void threadsAndDependentsTakeTurns() {
    try (FasterStore store = FasterStore.open(config(RecordKind.LONGS));
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor)) {
      fill(session);
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        threads.add(
            CompletableFuture.runAsync(
                () -> {
                  List<CompletableFuture<LongResult>> chains = new ArrayList<>();
                  for (long key = 0; key < KEYS; key++) {
                    long own = key;
                    chains.add(
                        session
                            .read(own)
                            .thenCompose(found -> session.rmw(own, 1))
                            .toCompletableFuture());
                  }
                  chains.forEach(CompletableFuture::join);
                },
                task -> Thread.ofPlatform().start(task)));
      }
      threads.forEach(CompletableFuture::join);
      for (long key = 0; key < KEYS; key += 7) {
        assertThat(end(session.read(key)).value()).isEqualTo(key + 3);
      }
    }
  }

  /** Device and executor both work on the calling thread. */
  @Test
  void anExecutorThatRunsAtOnceIsFine() {
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), Runnable::run)) {
      fill(session);
      for (long key = 0; key < KEYS; key++) {
        CompletionStage<LongResult> read = session.read(key);
        assertThat(isDone(read)).isTrue();
        assertThat(end(read).value()).isEqualTo(key);
      }
    }
  }

  @Test
  void anExecutorThatRefusesIsReplaced() {
    executor.shutdown();
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor)) {
      fill(session);
      assertThat(end(session.read(0)).value()).isZero();
      assertThat(end(session.rmw(1, 1)).status()).isEqualTo(Status.COPIED);
    }
  }

  /** The executor breaks before the task was run, after it, or while it is submitted. */
  @Test
  void anExecutorThatBreaksIsReplaced() {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Queue<Throwable> reported = new ConcurrentLinkedQueue<>();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> reported.add(failure));
    List<Executor> broken =
        List.of(
            task -> {
              throw new IllegalStateException("broken");
            },
            task -> {
              throw new StackOverflowError("broken");
            },
            task -> {
              task.run();
              throw new IllegalStateException("broken");
            },
            task -> {
              executor.execute(task);
              throw new IllegalStateException("broken");
            });
    try (FasterStore store = longs()) {
      for (Executor each : broken) {
        try (var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), each)) {
          fill(session);
          for (long key = 0; key < 200; key++) {
            assertThat(end(session.read(key)).value()).isEqualTo(key);
          }
        }
      }
      assertThat(reported).isNotEmpty().allMatch(failure -> "broken".equals(failure.getMessage()));
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  /**
   * The device and the executor run on the calling thread, near the end of its stack, so another
   * thread must complete the operations that have arrived. The calling thread once retried for
   * ever.
   */
  @Test
  @Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anArrivalAtTheEndOfTheStackIsNotLost() {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
      throw new IllegalStateException("of the handler");
    });
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), Runnable::run)) {
      fill(session);
      List<CompletionStage<LongResult>> reads = new ArrayList<>();
      AtomicLong key = new AtomicLong();
      Runnable read = () -> reads.add(session.read(key.getAndIncrement() % KEYS));
      assertThat(Stacks.overflow(read, read)).isPositive();
      reads.forEach(stage -> stage.toCompletableFuture().exceptionally(failure -> null).join());
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  @Test
  void aDeviceErrorFailsOnlyItsStage() {
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor)) {
      fill(session);
      device.setScript(
          new ScriptedDevice.Script() {
            @Override
            public void beforeRead(long address, long bytes) throws IOException {
              throw new IOException("on purpose");
            }
          });
      CompletionStage<LongResult> read = session.read(0);
      assertThatThrownBy(() -> end(read))
          .isInstanceOf(CompletionException.class)
          .cause()
          .isInstanceOf(OperationFailed.class)
          .hasCauseInstanceOf(DeviceFailed.class);
      assertThatThrownBy(() -> end(session.rmw(0, 1)))
          .cause()
          .isInstanceOf(OperationFailed.class)
          .hasCauseInstanceOf(DeviceFailed.class);
      device.setScript(ScriptedDevice.Script.NONE);
      assertThat(end(session.read(0)).value()).isZero();
      assertThat(end(session.rmw(0, 1)).status()).isEqualTo(Status.COPIED);
    }
  }

  @Test
  void closingCompletesPendingOperations() {
    try (FasterStore store = longs()) {
      var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor);
      fill(session);
      keepCompletions();
      List<CompletionStage<LongResult>> reads = new ArrayList<>();
      for (long key = 0; key < 5; key++) {
        reads.add(session.read(key));
      }
      assertThat(reads).noneMatch(AsyncSessionTest::isDone);
      Thread closing = Pause.begin(session::close);
      release();
      Pause.join(closing);
      for (int key = 0; key < reads.size(); key++) {
        assertThat(isDone(reads.get(key))).isTrue();
        assertThat(end(reads.get(key)).value()).isEqualTo(key);
      }
      assertThatThrownBy(() -> end(session.read(0))).hasCauseInstanceOf(Closed.class);
      session.close();
    }
  }

  /** Cancelling only ends the wait: the update takes effect. */
  @Test
  void cancellingDoesNotCancelTheOperation() {
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), executor)) {
      fill(session);
      keepCompletions();
      CompletionStage<LongResult> update = session.rmw(0, 5);
      update.toCompletableFuture().cancel(true);
      assertThat(isDone(update)).isFalse();
      release();
      assertThat(end(update)).isEqualTo(new LongResult(Status.COPIED, 5));
      assertThat(end(session.read(0)).value()).isEqualTo(5);
    }
  }

  /** Stages complete in the order in which the records arrive. */
  @Test
  void stagesEndInTheOrderOfArrival() {
    Executor atOnce = Runnable::run;
    try (FasterStore store = longs();
        var session = store.newSession().asyncLongs(LongFunctions.<Void>sum(), atOnce)) {
      fill(session);
      keepCompletions();
      List<Long> reported = new ArrayList<>();
      for (long key = 0; key < 5; key++) {
        session.read(key).thenAccept(result -> reported.add(result.value()));
      }
      List<Runnable> reversed = new ArrayList<>(kept).reversed();
      kept.clear();
      reversed.forEach(Runnable::run);
      assertThat(reported).containsExactly(4L, 3L, 2L, 1L, 0L);
    }
  }

  @Test
  void spansWorkAndStagesOfRecordsInMemoryAreComplete() {
    try (FasterStore store = FasterStore.open(config(RecordKind.SPANS), device);
        var session = store.newSession().asyncSpans(new BytesFunctions(), executor)) {
      for (int key = 0; key < 300; key++) {
        assertThat(end(session.upsert(ModelDriver.key(key), ByteSpan.of(new byte[key]))))
            .isEqualTo(Status.CREATED);
      }
      var result = new BytesFunctions.Result();
      CompletionStage<Status> hot = session.read(ModelDriver.key(299), null, result);
      assertThat(isDone(hot)).isTrue();
      assertThat(result.value).hasSize(299);
      assertThat(end(session.read(ModelDriver.key(20), null, result))).isEqualTo(Status.FOUND);
      assertThat(result.value).hasSize(20);
      assertThat(end(session.rmw(ModelDriver.key(21), new byte[3]))).isEqualTo(Status.COPIED);
      assertThat(end(session.read(ModelDriver.key(21), null, result))).isEqualTo(Status.FOUND);
      assertThat(result.value).hasSize(24);
      assertThat(end(session.delete(ModelDriver.key(21)))).isEqualTo(Status.FOUND);
      assertThat(end(session.read(ModelDriver.key(21), null, result))).isEqualTo(Status.NOT_FOUND);
      ByteSpan huge = ByteSpan.of(new byte[PAGE_BYTES]);
      assertThatThrownBy(() -> end(session.read(huge, null, result)))
          .hasCauseInstanceOf(RecordTooLarge.class);
    }
  }

  /** Nothing arrives for waiting operations: scratch memory has room for one large value. */
  @Test
  void operationsThatWaitForScratchMemoryEndByThemselves() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(4L * PAGE_BYTES)
            .scratchBytes(64 << 10)
            .indexBytes(64 << 10)
            .recordKind(RecordKind.SPANS)
            .build();
    int bytes = config.maxValueBytes();
    try (FasterStore store = FasterStore.open(config, device);
        var session = store.newSession().asyncSpans(new BytesFunctions(), executor)) {
      int keys = 6;
      for (int key = 0; key < keys; key++) {
        end(session.upsert(ModelDriver.key(key), ByteSpan.of(value(key, bytes))));
      }
      BufferPool buffers = Insides.engine(store).buffers();
      MemorySegment taken = Objects.requireNonNull(buffers.tryTakeLarge(1));
      List<BytesFunctions.Result> results = new ArrayList<>();
      List<CompletionStage<Status>> reads = new ArrayList<>();
      for (int key = 0; key < keys; key++) {
        results.add(new BytesFunctions.Result());
        reads.add(session.read(ModelDriver.key(key), null, results.get(key)));
      }
      assertThat(reads.stream().anyMatch(AsyncSessionTest::isDone)).as("there is room").isFalse();
      buffers.give(taken);
      for (int key = 0; key < keys; key++) {
        assertThat(end(reads.get(key))).isEqualTo(Status.FOUND);
        assertThat(results.get(key).value).isEqualTo(value(key, bytes));
      }
    }
  }

  private static byte[] value(int key, int bytes) {
    byte[] value = new byte[bytes];
    Arrays.fill(value, (byte) (key + 1));
    return value;
  }
}
