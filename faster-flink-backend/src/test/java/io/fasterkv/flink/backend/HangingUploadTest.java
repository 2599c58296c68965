package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.snapshot.HangingWrites;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/**
 * Tests that a snapshot whose storage hangs at any of its calls ends when it is cancelled or its
 * backend is disposed of, and leaves no stream, thread, file, or use of the store.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("long")
@Tag("seeds")
class HangingUploadTest {
  private static final int KEYS = 40;

  /** From one call that hangs to the next, on average: 3 in the long suites. */
  private static final int STRIDE = 36 / Seeds.part(12);

  /** The end of a snapshot takes about a second; Flink kills a task only after minutes. */
  private static final Duration BOUND = Duration.ofSeconds(5);

  @RegisterExtension
  private final LoggerAuditingExtension log =
      new LoggerAuditingExtension("io.fasterkv", Level.DEBUG);

  @TempDir private Path directory;

  @AfterEach
  void linesNameTheOperator() {
    assertThat(log.getMessages())
        .allMatch(line -> line.startsWith("test operator (1/1): "))
        .anyMatch(line -> line.contains("opened a state store: "));
  }

  enum Kind {
    INCREMENTAL,
    NATIVE_SAVEPOINT,
    FULL,
    SAVEPOINT;

    TestSettings settings() {
      return this == INCREMENTAL || this == NATIVE_SAVEPOINT
          ? TestSettings.TINY_INCREMENTAL
          : TestSettings.TINY;
    }
  }

  private enum End {
    CANCEL,
    CLOSE,
    DISPOSE
  }

  static RunnableFuture<SnapshotResult<KeyedStateHandle>> start(
      Kind kind,
      FasterKeyedStateBackend<Integer> backend,
      HangingWrites storage,
      CloseableRegistry registry)
      throws Exception {
    if (kind == Kind.SAVEPOINT) {
      // The same steps as in an operator.
      return castResult(
          new SnapshotStrategyRunner<>(
                  "savepoint",
                  new SavepointSnapshotStrategy<>(backend.savepoint().getSnapshotResources()),
                  registry,
                  SnapshotExecutionType.ASYNCHRONOUS)
              .snapshot(
                  1, 1, storage, options(SavepointType.savepoint(SavepointFormatType.CANONICAL))));
    }
    return backend.snapshot(
        1,
        1,
        storage,
        options(
            kind == Kind.NATIVE_SAVEPOINT
                ? SavepointType.savepoint(SavepointFormatType.NATIVE)
                : CheckpointType.CHECKPOINT));
  }

  @SuppressWarnings("unchecked")
  private static RunnableFuture<SnapshotResult<KeyedStateHandle>> castResult(
      RunnableFuture<? extends SnapshotResult<? extends KeyedStateHandle>> future) {
    return (RunnableFuture<SnapshotResult<KeyedStateHandle>>) future;
  }

  private static CheckpointOptions options(SnapshotType type) {
    return new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void atEachCallOfTheStorage(Kind kind) throws Throwable {
    Seeds.run(
        1,
        random -> {
          int call = 0;
          while (hangs(kind, call, random)) {
            call += call < 6 ? 1 : 1 + random.nextInt(3);
          }
          assertThat(call).as("calls of the storage").isGreaterThan(2);
        });
  }

  /** Lets a call hang; returns false if the snapshot ends before it makes that call. */
  private boolean hangs(Kind kind, int call, SplittableRandom random) throws Exception {
    End end = End.values()[random.nextInt(End.values().length)];
    HangingWrites storage = new HangingWrites();
    boolean hung;
    try (TestBackends backends = new TestBackends(kind.settings(), directory);
        AutoCloseable released = storage::release) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      IncrementalCheckpoints.put(backend, 0, KEYS, 1);
      CloseableRegistry operator = new CloseableRegistry();
      storage.hangFrom(call, false);
      if (kind == Kind.SAVEPOINT) {
        // Flink writes the savepoint, and keeps the stream registered only until it closes the
        // stream.
        storage.hangNoClosings();
      }
      RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
          start(kind, backend, storage, operator);
      Thread writer = Thread.ofPlatform().name("async-snapshot").start(snapshot);
      hung = storage.awaitHangingOrEnd(writer);
      if (hung) {
        String what = kind + ", call=" + call + ", end=" + end;
        within(what, () -> end(end, kind, snapshot, operator, backend));
        assertThat(writer.join(BOUND)).as("writer of " + what).isTrue();
        assertThat(snapshot.isCancelled()).as(what).isTrue();
        storage.awaitNothingOpen();
        assertThat(storage.files()).as("files of " + what).isZero();
      }
      within("dispose after " + kind + ", call=" + call, backend::dispose);
    }
    assertThat(directory).isEmptyDirectory();
    assertNoThreads();
    return hung;
  }

  private static void end(
      End end,
      Kind kind,
      RunnableFuture<?> snapshot,
      CloseableRegistry operator,
      FasterKeyedStateBackend<?> backend)
      throws Exception {
    switch (end) {
      case CANCEL -> snapshot.cancel(true);
      case CLOSE -> {
        operator.close();
        backend.close();
      }
      case DISPOSE -> {
        operator.close();
        backend.dispose();
      }
    }
  }

  /** An action of a task on its own thread. */
  private interface Action {
    void run() throws Exception;
  }

  private static void within(String what, Action action) throws Exception {
    Thread task =
        Thread.ofPlatform()
            .daemon()
            .name("task")
            .start(() -> {
              try {
                action.run();
              } catch (Exception e) {
                throw new AssertionError(what, e);
              }
            });
    assertThat(task.join(BOUND)).as(what).isTrue();
  }

  private static void assertNoThreads() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("faster-upload")
          || thread.getName().startsWith("faster-stream")) {
        assertThat(thread.join(BOUND)).as(thread.getName()).isTrue();
      }
    }
  }

  /** Streams cannot be closed either, because those of Flink need a lock that a write holds. */
  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"INCREMENTAL", "NATIVE_SAVEPOINT", "FULL"})
  void atCallsOfAStorageWhoseStreamsDoNotClose(Kind kind) throws Throwable {
    Seeds.run(
        1,
        random -> {
          int call = 1;
          while (hangsWithItsStreams(kind, call)) {
            call += 1 + random.nextInt(2 * STRIDE - 1);
          }
        });
  }

  /** Lets a call hang; returns false if the snapshot ends before it makes that call. */
  private boolean hangsWithItsStreams(Kind kind, int call) throws Exception {
    boolean hung;
    HangingWrites storage = new HangingWrites();
    try (TestBackends backends = new TestBackends(kind.settings(), directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      IncrementalCheckpoints.put(backend, 0, KEYS, 1);
      storage.hangFrom(call, true);
      RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
          start(kind, backend, storage, new CloseableRegistry());
      Thread writer = Thread.ofPlatform().name("async-snapshot").start(snapshot);
      hung = storage.awaitHangingOrEnd(writer);
      within("dispose, " + kind + ", call=" + call, backend::dispose);
      storage.release();
      assertThat(writer.join(BOUND)).isTrue();
      if (hung) {
        storage.awaitNothingLeft();
      }
    }
    assertThat(directory).isEmptyDirectory();
    assertNoThreads();
    return hung;
  }
}
