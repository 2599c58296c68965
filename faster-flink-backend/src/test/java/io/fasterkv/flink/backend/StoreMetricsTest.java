package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which metrics a backend reports to Flink. */
class StoreMetricsTest {
  private static final int KEYS = 40_000;

  @TempDir private Path directory;
  private final RecordedGauges gauges = new RecordedGauges();

  @Test
  void partsOfTheMemoryAddUpAndStayWithinTheBudget() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putAll(backend, 1);

      assertThat(gauges.get("memoryBytes")).isEqualTo(32 << 20);
      assertThat(gauges.get("memoryUsedBytes"))
          .isPositive()
          .isLessThanOrEqualTo(gauges.get("memoryBytes"))
          .isEqualTo(
              gauges.get("memoryIndexBytes")
                  + gauges.get("memoryLogBytes")
                  + gauges.get("memoryScratchLentBytes")
                  + gauges.get("memoryScratchFreeBytes")
                  + gauges.get("memoryOtherBytes"));
    }
  }

  @Test
  void entriesAreOneForEachKeyButForCollisions() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      assertThat(gauges.get("indexEntries")).isZero();
      putAll(backend, 1);
      putAll(backend, 2);

      assertThat(gauges.get("indexEntries")).isBetween(KEYS * 95L / 100, (long) KEYS);
      assertThat(gauges.get("indexLoadPercent")).isBetween(1L, 100L);
    }
  }

  @Test
  void readsAreFromMemoryUntilStateIsLarger() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      readAll(putAll(backend, 1), backend);

      assertThat(gauges.get("recordsReadInMemory")).isGreaterThanOrEqualTo(KEYS);
      assertThat(gauges.get("recordsReadFromDisk")).isZero();
    }
  }

  @Tag("slow")
  @Test
  void hitsAreReportedByRegion() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      ValueState<Long> state = putAll(backend, 1);
      readAll(state, backend);
      assertThat(gauges.get("hitsMutable")).isEqualTo(KEYS);
      assertThat(gauges.get("hitsReadOnly")).isZero();

      TestBackends.snapshot(backend);
      readAll(state, backend);
      assertThat(gauges.get("hitsMutable")).isEqualTo(KEYS);
      assertThat(gauges.get("hitsReadOnly")).isEqualTo(KEYS);
      assertThat(gauges.get("hitsDisk")).isZero();
    }
    try (TestBackends backends = reported(TestSettings.TINY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      readAll(putAll(backend, 1), backend);
      assertThat(gauges.get("hitsDisk")).isBetween(KEYS / 2L, (long) KEYS);
    }
  }

  @Test
  void readsFromDiskAreCounted() throws Exception {
    try (TestBackends backends = reported(TestSettings.TINY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      readAll(putAll(backend, 1), backend);

      assertThat(gauges.get("recordsReadFromDisk")).isGreaterThan(KEYS / 2);
      assertThat(gauges.get("logStoredBytes")).isGreaterThan(1 << 20);
    }
  }

  @Test
  void liveAndDeadBytesAreTheLogAndCompactionIsCounted() throws Exception {
    try (TestBackends backends = reported(TestSettings.TINY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putAll(backend, 0);
      assertThat(gauges.get("logBytes")).isGreaterThan(1 << 20);
      for (int round = 1; gauges.get("compactionDroppedBytes") == 0; round++) {
        putAll(backend, round);
      }
      assertThat(gauges.get("logLiveBytes")).isBetween(1L, gauges.get("logBytes"));
      assertThat(gauges.get("compactionPasses")).isPositive();
      assertThat(gauges.get("compactionMovedBytes")).isGreaterThanOrEqualTo(0);
      assertThat(gauges.get("logDeadBytes")).isGreaterThanOrEqualTo(0);
    }
  }

  @Test
  void phasesOfSnapshotsAreTimed() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putAll(backend, 1);
      assertThat(gauges.get("snapshotsTaken")).isZero();
      KeyedStateHandle handle = TestBackends.snapshot(backend);

      assertThat(gauges.get("snapshotsTaken")).isEqualTo(1);
      assertThat(gauges.get("snapshotsFailed")).isZero();
      assertThat(gauges.get("lastSnapshotBytes")).isEqualTo(handle.getCheckpointedSize());
      assertThat(gauges.get("lastSnapshotSyncMicros")).isPositive();
      assertThat(gauges.get("lastSnapshotAsyncMillis")).isPositive();
    }
  }

  @Test
  void snapshotsThatAreCancelledAreNotTaken() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putAll(backend, 1);
      RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
          TestBackends.start(backend, TestBackends.inMemory());
      assertThat(snapshot.cancel(true)).isTrue();
      snapshot.run();

      assertThat(gauges.get("snapshotsTaken")).isZero();
    }
  }

  @Test
  void allGaugesAreZeroAfterTheStoreWasClosed() throws Exception {
    try (TestBackends backends = reported(TestSettings.ROOMY)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putAll(backend, 1);
      backend.dispose();

      assertThat(gauges.all())
          .hasSizeGreaterThan(20)
          .allSatisfy((name, value) -> assertThat(value).as(name).isZero());
    }
  }

  @Test
  void aReporterNeverMeetsAStoreThatIsHalfClosed() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicLong looks = new AtomicLong();
    CompletableFuture<Void> reporter =
        CompletableFuture.runAsync(() -> {
          while (!isOver.get()) {
            gauges.all();
            looks.incrementAndGet();
          }
        });
    try (TestBackends backends = reported(TestSettings.TINY)) {
      for (int i = 0; i < 50; i++) {
        FasterKeyedStateBackend<Integer> backend = backends.open();
        long before = looks.get();
        while (looks.get() < before + 2 && !reporter.isDone()) {
          Thread.onSpinWait();
        }
        backend.dispose();
      }
    } finally {
      isOver.set(true);
    }
    reporter.get();
  }

  private TestBackends reported(TestSettings settings) {
    TestBackends backends = new TestBackends(settings, directory);
    backends.reportTo(gauges);
    return backends;
  }

  private static ValueState<Long> putAll(FasterKeyedStateBackend<Integer> backend, long value)
      throws Exception {
    ValueState<Long> state =
        backend.getPartitionedState(
            VoidNamespace.INSTANCE,
            VoidNamespaceSerializer.INSTANCE,
            new ValueStateDescriptor<>("numbers", LongSerializer.INSTANCE));
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      state.update(value + key);
    }
    return state;
  }

  private static void readAll(ValueState<Long> state, FasterKeyedStateBackend<Integer> backend)
      throws Exception {
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(1L + key);
    }
  }
}
