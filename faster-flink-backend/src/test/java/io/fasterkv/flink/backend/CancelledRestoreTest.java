package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.backend.HangingUploadTest.Kind;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.slowfs.HangingStorage;
import io.fasterkv.flink.slowfs.HangingStorage.Call;
import io.fasterkv.flink.snapshot.HangingWrites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests cancelling a restore, and disposing of a backend, while the checkpoint's storage hangs, at
 * every call of the storage during a restore and the background fill.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("seeds")
class CancelledRestoreTest extends IncrementalCheckpoints {
  private static final int KEYS = 3_000;
  private static final int MOST_MOMENTS = 40;
  private static final Duration BOUND = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HangingStorage storage = new HangingStorage();

  /** Threads of stores that other tests of this process may have opened. */
  private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

  /** Uses leased memory, so that closing the backends detects a lease that was not returned. */
  private void openBackends() {
    openBackends(true);
  }

  private void openBackends(boolean isIncremental) {
    Configuration config = TestSettings.MANAGED.config();
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, isIncremental);
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    config.set(FasterOptions.MINIMUM_MEMORY, MemorySize.ofMebiBytes(1));
    backends = new TestBackends(config);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {100, 2_000})
  void endsAtEveryMomentOfAnIncrementalRestore(int valueBytes) throws Throwable {
    openBackends();
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, KEYS, 1, valueBytes);
    KeyedStateHandle handle = storage.wrap(take(backend));
    backend.dispose();
    Seeds.run(1, random -> endsAtEveryMoment(handle, random));
  }

  @Tag("slow")
  @Test
  void endsAtEveryMomentOfAFullRestore() throws Throwable {
    openBackends();
    try (TestBackends full = new TestBackends(TestSettings.ROOMY, directory)) {
      FasterKeyedStateBackend<Integer> written = full.open();
      put(written, 0, KEYS, 1);
      KeyGroupsStateHandle handle = (KeyGroupsStateHandle) TestBackends.snapshot(written);
      written.dispose();
      Seeds.run(1, random -> endsAtEveryMoment(storage.wrap(handle), random));
    }
  }

  private void endsAtEveryMoment(KeyedStateHandle handle, SplittableRandom random)
      throws Exception {
    storage.hangFrom(Integer.MAX_VALUE);
    FasterKeyedStateBackend<Integer> whole = backends.open(handle);
    awaitThat(() -> whole.store().integration().bytesToCopy() == 0);
    int calls = storage.calls();
    whole.close();
    whole.dispose();
    assertNothingIsLeft();
    int step = Math.max(1, calls / MOST_MOMENTS);
    for (int call = random.nextInt(step); call < calls; call += step) {
      storage.hangFrom(call);
      try {
        endsInTime(handle, random.nextBoolean());
      } catch (Throwable failure) {
        throw new AssertionError("call=" + call + " of " + calls, failure);
      } finally {
        storage.close();
      }
      assertNothingIsLeft();
    }
  }

  /** Cancels while the restore hangs, or disposes of the backend while its fill hangs. */
  private void endsInTime(KeyedStateHandle handle, boolean interrupts) throws Exception {
    FutureTask<FasterKeyedStateBackend<Integer>> restore =
        new FutureTask<>(() -> backends.open(handle));
    Thread task = Thread.ofPlatform().daemon().name("task").start(restore);
    awaitThat(() -> restore.isDone() || storage.hanging() > 0);
    boolean isCancelled = !restore.isDone();
    if (isCancelled) {
      long start = System.nanoTime();
      backends.cancel();
      if (interrupts) {
        task.interrupt();
      }
      assertThat(task.join(BOUND.minusNanos(System.nanoTime() - start)))
          .as("restore ended after it was cancelled")
          .isTrue();
    }
    if (restore.state() != FutureTask.State.SUCCESS) {
      return;
    }
    FasterKeyedStateBackend<Integer> backend = restore.resultNow();
    awaitThat(() ->
        isCancelled || storage.hanging() > 0 || backend.store().integration().bytesToCopy() == 0);
    inTime(() -> {
      backend.close();
      backend.dispose();
      return true;
    });
  }

  @Test
  void anOperationThatReadsFromHangingStorageEndsWhenTheBackendIsClosed() throws Exception {
    openBackends();
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, KEYS, 1, 2_000);
    KeyedStateHandle handle = storage.wrap(take(backend));
    backend.dispose();
    storage.hangFills();
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    storage.hangFrom(0);
    try {
      CountDownLatch begun = new CountDownLatch(1);
      FutureTask<Integer> reads =
          new FutureTask<>(() -> {
            int read = 0;
            for (int key = 0; key < KEYS; key++) {
              restored.setCurrentKey(key);
              begun.countDown();
              read += state(restored).value().length;
            }
            return read;
          });
      Thread task = Thread.ofPlatform().daemon().name("task").start(reads);
      begun.await();
      awaitThat(() -> reads.isDone() || storage.hangingReads() > 0);
      inTime(() -> {
        restored.close();
        return true;
      });
      assertThat(task.join(BOUND)).as("the operation ended").isTrue();
      inTime(() -> {
        restored.dispose();
        return true;
      });
    } finally {
      storage.close();
    }
    assertNothingIsLeft();
  }

  /** Cancelling must not wait for the thread that sorts the log or builds digests. */
  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"NATIVE_SAVEPOINT", "FULL", "SAVEPOINT"})
  void aSnapshotThatReadsFromHangingStorageIsCancelled(Kind kind) throws Exception {
    openBackends();
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, KEYS, 1, 2_000);
    KeyedStateHandle handle = storage.wrap(take(backend));
    backend.dispose();
    if (kind == Kind.FULL) {
      backends.close();
      openBackends(false);
    }
    // An interrupt ends an opening, but neither a seek nor a read.
    for (int call = 0; call < 4; call++) {
      cancelASnapshotThatHangs(kind, call, handle);
    }
  }

  private void cancelASnapshotThatHangs(Kind kind, int call, KeyedStateHandle handle)
      throws Exception {
    storage.hangFills();
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    storage.hangFrom(call);
    try {
      int fills = storage.hanging();
      RunnableFuture<?> snapshot =
          HangingUploadTest.start(kind, restored, new HangingWrites(), new CloseableRegistry());
      Thread writer = Thread.ofPlatform().daemon().name("async-snapshot").start(snapshot);
      awaitThat(() -> snapshot.isDone() || storage.hanging() > fills);
      assertThat(snapshot.isDone()).isFalse();
      inTime(() -> snapshot.cancel(true));
      if (kind == Kind.NATIVE_SAVEPOINT) {
        assertThat(writer.join(BOUND)).as("only upload threads hang").isTrue();
      }
      inTime(() -> {
        restored.close();
        restored.dispose();
        return true;
      });
      assertThat(writer.join(BOUND)).as("the snapshot ended").isTrue();
    } finally {
      storage.close();
    }
    assertNothingIsLeft();
  }

  /** Each failed read opens another stream; none may stay open. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"SEEK", "READ"})
  void aCallThatFailsLeavesNoStreamOpen(Call kind) throws Exception {
    openBackends();
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, KEYS, 1, 2_000);
    KeyedStateHandle handle = storage.wrap(take(backend));
    backend.dispose();
    storage.hangFills();
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    storage.fail(kind);
    int failed = 0;
    for (int key = 0; key < KEYS; key++) {
      restored.setCurrentKey(key);
      try {
        state(restored).value();
      } catch (Exception refused) {
        failed++;
      }
    }
    assertThat(storage.openStreams())
        .as("open streams after failed reads: failed=" + failed)
        .isLessThan(33);
    storage.close();
    awaitThat(() -> restored.store().integration().bytesToCopy() == 0);
    awaitThat(() -> storage.openStreams() == 0);
    restored.dispose();
    assertNothingIsLeft();
  }

  private static void inTime(Callable<Boolean> action) throws Exception {
    FutureTask<Boolean> task = new FutureTask<>(action);
    Thread.ofPlatform().daemon().name("canceler").start(task);
    try {
      task.get(BOUND.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new AssertionError("did not end within " + BOUND, late);
    }
  }

  private static void awaitThat(BooleanSupplier holds) {
    long start = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
      Thread.yield();
    }
  }

  /** Asserts that no stream, thread, file or open file is left. */
  private void assertNothingIsLeft() throws Exception {
    assertThat(storage.openStreams()).as("streams").isZero();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (isOfAStore(thread) && !threadsBefore.contains(thread)) {
        assertThat(thread.join(BOUND)).as(thread.getName()).isTrue();
      }
    }
    assertThat(directory).isEmptyDirectory();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      assertThat(descriptors.filter(this::isOfStore)).isEmpty();
    }
  }

  /** Excludes the thread that allocates memory: it serves all stores and does not end with one. */
  private static boolean isOfAStore(Thread thread) {
    return thread.getName().startsWith("faster-") && !thread.getName().equals("faster-memory");
  }

  private boolean isOfStore(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(directory);
    } catch (IOException closed) {
      return false;
    }
  }
}
