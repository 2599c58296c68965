package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fasterkv.flink.TestSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that gauges of the log, the index and snapshots are accurate within a few percent. */
class MetricsOfTheLogTest extends IncrementalCheckpoints {
  private static final int KEYS = 60_000;

  /**
   * Records of this length have digests in the files, so a restore need not read the log at once.
   */
  private static final int LONG_BYTES = 1_000;

  private final RecordedGauges gauges = new RecordedGauges();

  private FasterKeyedStateBackend<Integer> reported(TestSettings settings) throws Exception {
    backends = new TestBackends(settings, directory);
    backends.reportTo(gauges);
    return backends.open();
  }

  @Test
  void entriesAndLiveBytesAreHalvedWhenHalfOfTheKeysAreDeleted() throws Exception {
    FasterKeyedStateBackend<Integer> backend = reported(TestSettings.ROOMY_INCREMENTAL);
    put(backend, 0, KEYS, 1);
    long full = gauges.get("logBytes");
    assertThat(full).isGreaterThan((long) KEYS * VALUE_BYTES);
    assertThat(gauges.get("indexEntries")).isCloseTo(KEYS, percent(2, KEYS));
    assertThat(gauges.get("logLiveBytes")).isCloseTo(full, percent(3, full));
    assertThat(gauges.get("logDeadBytes")).isCloseTo(0L, percent(3, full));

    for (int key = 0; key < KEYS; key += 2) {
      backend.setCurrentKey(key);
      state(backend).clear();
    }
    assertThat(gauges.get("logLiveBytes")).isCloseTo(full / 2, percent(3, full));
    assertThat(gauges.get("logDeadBytes")).isCloseTo(full / 2, percent(3, full));

    // The records are then on disk, where compaction reads them.
    take(backend);
    backend.store().log().compact();
    assertThat(gauges.get("compactionPasses")).isPositive();
    assertThat(gauges.get("indexEntries")).isCloseTo(KEYS / 2, percent(2, KEYS));
    assertThat(gauges.get("logBytes")).isCloseTo(full / 2, percent(3, full));
    assertThat(gauges.get("logLiveBytes")).isCloseTo(full / 2, percent(3, full));
    assertThat(gauges.get("logDeadBytes")).isCloseTo(0L, percent(3, full));
    assertThat(gauges.get("compactionMovedBytes")).isCloseTo(full / 2, percent(3, full));
    assertThat(gauges.get("compactionDroppedBytes")).isCloseTo(full / 2, percent(3, full));
  }

  private static Offset<Long> percent(int percent, long of) {
    return within(of * percent / 100);
  }

  @Test
  void bytesToCopyFallFromTheWholeLogToZero() throws Exception {
    FasterKeyedStateBackend<Integer> backend = reported(TestSettings.ROOMY_INCREMENTAL);
    put(backend, 0, KEYS / 10, 1, LONG_BYTES);
    assertThat(gauges.get("logToCopyBytes")).isZero();
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    long bytes = gauges.get("logBytes");
    backend.dispose();

    CountDownLatch mayBeCopied = new CountDownLatch(1);
    FasterKeyedStateBackend<Integer> restored = backends.open(heldUp(handle, mayBeCopied));
    assertThat(gauges.get("logToCopyBytes")).isCloseTo(bytes, percent(3, bytes));
    mayBeCopied.countDown();
    while (gauges.get("logToCopyBytes") > 0) {
      Thread.onSpinWait();
    }
    assertThat(restored.store().integration().bytesToCopy()).isZero();
  }

  /**
   * The same checkpoint, with files that the copying thread cannot read before the test allows it.
   */
  private static IncrementalRemoteKeyedStateHandle heldUp(
      IncrementalRemoteKeyedStateHandle handle, CountDownLatch mayBeCopied) {
    return new IncrementalRemoteKeyedStateHandle(
        handle.getBackendIdentifier(),
        handle.getKeyGroupRange(),
        handle.getCheckpointId(),
        handle.getSharedState().stream()
            .map(file ->
                HandleAndLocalPath.of(
                    new HeldUp(file.getLocalPath(), file.getHandle(), mayBeCopied),
                    file.getLocalPath()))
            .toList(),
        handle.getPrivateState(),
        handle.getMetaDataStateHandle());
  }

  private static final class HeldUp extends ByteStreamStateHandle {
    private static final long serialVersionUID = 1L;
    private static final String COPIES = "faster-fill";
    private final transient StreamStateHandle file;
    private final transient CountDownLatch mayBeCopied;

    HeldUp(String name, StreamStateHandle file, CountDownLatch mayBeCopied) {
      super(name, new byte[(int) file.getStateSize()]);
      this.file = file;
      this.mayBeCopied = mayBeCopied;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
      FSDataInputStream in = file.openInputStream();
      return new FSDataInputStream() {
        @Override
        public void seek(long position) throws IOException {
          in.seek(position);
        }

        @Override
        public long getPos() throws IOException {
          return in.getPos();
        }

        @Override
        public int read() throws IOException {
          awaitCopying();
          return in.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
          awaitCopying();
          return in.read(target, offset, length);
        }

        @Override
        public void close() throws IOException {
          in.close();
        }
      };
    }

    private void awaitCopying() throws IOException {
      try {
        if (Thread.currentThread().getName().startsWith(COPIES)) {
          mayBeCopied.await();
        }
      } catch (InterruptedException closed) {
        throw new IOException("the store is being closed", closed);
      }
    }
  }

  @Test
  void reportsHowLongASnapshotWaitedForAThread() throws Exception {
    FasterKeyedStateBackend<Integer> backend = reported(TestSettings.ROOMY);
    put(backend, 0, 10, 1);
    long start = System.nanoTime();
    var snapshot = TestBackends.start(backend, TestBackends.inMemory());
    long started = System.nanoTime();
    for (int round = 0; millisSince(started) < 5; round++) {
      put(backend, 0, 10, round);
    }
    long waited = millisSince(started);
    snapshot.run();
    assertThat(gauges.get("lastSnapshotQueuedMillis")).isBetween(waited, millisSince(start));
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  @Tag("slow")
  @Test
  void expiredBytesDroppedByCompactionAreCounted() throws Exception {
    AtomicLong now = new AtomicLong(1_000);
    backends = new TestBackends(TestSettings.ROOMY_INCREMENTAL, directory);
    backends.reportTo(gauges);
    backends.useTime(now::get);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    ValueStateDescriptor<byte[]> timed =
        new ValueStateDescriptor<>("timed", BytePrimitiveArraySerializer.INSTANCE);
    timed.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofMillis(100)).build());
    ValueState<byte[]> state = ModelStates.state(backend, timed);
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      state.update(new byte[VALUE_BYTES]);
    }
    take(backend);
    long full = gauges.get("logBytes");
    assertThat(gauges.get("compactionExpiredBytes")).isZero();

    now.addAndGet(100);
    backend.store().log().compact();
    assertThat(gauges.get("compactionExpiredBytes")).isCloseTo(full, percent(5, full));
  }
}
