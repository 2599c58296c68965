package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.slowfs.HangingStorage;
import io.fasterkv.flink.slowfs.HangingStorage.Call;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A restore is cancelled, and a backend disposed of, while the storage of the checkpoint hangs, at
 * every moment of a restore and of the background fill: each of its calls of the storage.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CancelledRestoreTest extends IncrementalCheckpoints {
  private static final int KEYS = 3_000;
  private static final int MOST_MOMENTS = 40;
  private static final Duration BOUND = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HangingStorage storage = new HangingStorage();

  /** Other tests of this process may have stores open. */
  private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

  /** Leased memory, so that closing the backends detects a lease that was not returned. */
  private void openBackends() {
    Configuration config = TestSettings.MANAGED.config();
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    config.set(FasterOptions.MINIMUM_MEMORY, MemorySize.ofMebiBytes(1));
    backends = new TestBackends(config);
  }

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
    awaitThat(() -> whole.store().bytesToCopy() == 0);
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

  /** Cancels while the restore hangs, or disposes of the backend while its fill does. */
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
    awaitThat(() -> isCancelled || storage.hanging() > 0 || backend.store().bytesToCopy() == 0);
    inTime(() -> {
      backend.close();
      backend.dispose();
      return true;
    });
  }

  @Test
  void anOperationThatReadsWhatHangsEndsWhenTheBackendIsClosed() throws Exception {
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
      int fills = storage.hanging();
      awaitThat(() -> reads.isDone() || storage.hanging() > fills);
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

  /** Each read that fails opens a stream again; none stays open. */
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
        .as("streams, after reads that failed: " + failed)
        .isLessThan(33);
    storage.close();
    awaitThat(() -> restored.store().bytesToCopy() == 0);
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
      throw new AssertionError("not ended within " + BOUND, late);
    }
  }

  private static void awaitThat(BooleanSupplier holds) {
    long start = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
      Thread.yield();
    }
  }

  /** No stream, no thread, no file, and none that is open. */
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

  /** The thread that allocates memory serves all stores, and stays. */
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
