package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.core.testutils.OneShotLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.util.BlockerCheckpointStreamFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("seeds")
class SnapshotTest {
  private static final int KEYS = 600;

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "TINY"})
  void stateIsRestoredAtOneThreeAndTwoSubtasks(TestSettings settings) throws Throwable {
    Seeds.run(
        3,
        random -> {
          try (TestBackends backends = new TestBackends(settings, directory)) {
            ModelStates model = new ModelStates();
            FasterKeyedStateBackend<Integer> one = backends.open();
            model.change(one, random, KEYS, 20_000);
            KeyedStateHandle ofOne = TestBackends.snapshot(one);
            model.check(one, KEYS);

            KeyedStateHandle[] ofThree = new KeyedStateHandle[3];
            for (int i = 0; i < 3; i++) {
              FasterKeyedStateBackend<Integer> third = backends.open(range(i, 3), List.of(ofOne));
              model.check(third, KEYS);
              ofThree[i] = TestBackends.snapshot(third);
            }
            for (int i = 0; i < 2; i++) {
              model.check(backends.open(range(i, 2), List.of(ofThree)), KEYS);
            }
          }
          assertThat(files()).isZero();
        });
  }

  private static KeyGroupRange range(int subtask, int parallelism) {
    int start = (subtask * TestBackends.KEY_GROUPS + parallelism - 1) / parallelism;
    int next = ((subtask + 1) * TestBackends.KEY_GROUPS + parallelism - 1) / parallelism;
    return KeyGroupRange.of(start, next - 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "TINY"})
  void aSnapshotHasTheStateAtItsStartEvenIfTwoOverlap(TestSettings settings) throws Throwable {
    Seeds.run(
        3,
        random -> {
          try (TestBackends backends = new TestBackends(settings, directory)) {
            ModelStates model = new ModelStates();
            FasterKeyedStateBackend<Integer> backend = backends.open();
            model.change(backend, random, KEYS, 5_000);
            ModelStates atFirst = new ModelStates(model);
            var first = TestBackends.start(backend, TestBackends.inMemory());
            model.change(backend, random, KEYS, 5_000);
            ModelStates atSecond = new ModelStates(model);
            var second = TestBackends.start(backend, TestBackends.inMemory());
            model.change(backend, random, KEYS, 5_000);

            atSecond.check(backends.open(TestBackends.finish(second)), KEYS);
            model.change(backend, random, KEYS, 5_000);
            atFirst.check(backends.open(TestBackends.finish(first)), KEYS);
            model.check(backend, KEYS);
            assertThat(backend.numKeyValueStateEntries()).isEqualTo(model.count());
          }
        });
  }

  @Tag("slow")
  @Test
  void aSnapshotCancelledInTheMiddleLeavesNoFilesAndAStoreThatWorks() throws Exception {
    try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
      SplittableRandom random = new SplittableRandom(7);
      ModelStates model = new ModelStates();
      FasterKeyedStateBackend<Integer> backend = backends.open();
      model.change(backend, random, KEYS, 30_000);
      long filesBefore = sortFiles();

      BlockerCheckpointStreamFactory blocking = new BlockerCheckpointStreamFactory(64 << 20);
      OneShotLatch waiting = new OneShotLatch();
      blocking.setAfterNumberInvocations(5_000);
      blocking.setWaiterLatch(waiting);
      blocking.setBlockerLatch(new OneShotLatch());
      var snapshot = TestBackends.start(backend, blocking);
      Thread writer = new Thread(snapshot);
      writer.start();
      waiting.await();
      assertThat(sortFiles()).isPositive();
      snapshot.cancel(true);
      writer.join();

      assertThat(sortFiles()).isEqualTo(filesBefore);
      assertThatThrownBy(snapshot::get).isInstanceOf(CancellationException.class);
      model.change(backend, random, KEYS, 3_000);
      model.check(backend, KEYS);
      model.check(backends.open(TestBackends.snapshot(backend)), KEYS);
    }
    assertThat(files()).isZero();
  }

  @Tag("slow")
  @Test
  void snapshotsInterruptedAtAnyTimeDoNotHarmTheStore() throws Throwable {
    Seeds.run(
        2,
        random -> {
          try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
            ModelStates model = new ModelStates();
            FasterKeyedStateBackend<Integer> backend = backends.open();
            model.change(backend, random, KEYS, 20_000);
            for (int i = 0; i < 20; i++) {
              var snapshot = TestBackends.start(backend, TestBackends.inMemory());
              Thread writer = new Thread(snapshot);
              writer.start();
              Thread.sleep(random.nextInt(30));
              snapshot.cancel(true);
              model.change(backend, random, KEYS, 500);
              writer.join();
              assertThat(sortFiles()).isZero();
            }
            model.check(backend, KEYS);
            model.check(backends.open(TestBackends.snapshot(backend)), KEYS);
          }
        });
  }

  @Test
  void manySnapshotsAndListingsAtATimeFitTheStoresScratchMemory() throws Exception {
    try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
      SplittableRandom random = new SplittableRandom(11);
      ModelStates model = new ModelStates();
      FasterKeyedStateBackend<Integer> backend = backends.open();
      model.change(backend, random, KEYS, 20_000);
      List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> snapshots = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        snapshots.add(TestBackends.start(backend, TestBackends.inMemory()));
        new Thread(snapshots.get(i)).start();
        model.change(backend, random, KEYS, 200);
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(model.count());
      }
      for (var snapshot : snapshots) {
        assertThat(snapshot.get().getJobManagerOwnedSnapshot()).isNotNull();
      }
      model.check(backend, KEYS);
    }
  }

  @Test
  void aSnapshotThatCannotBeWrittenFailsAndLeavesNoFiles() throws Exception {
    try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
      ModelStates model = new ModelStates();
      FasterKeyedStateBackend<Integer> backend = backends.open();
      model.change(backend, new SplittableRandom(3), KEYS, 20_000);
      RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
          TestBackends.start(backend, new FullDisk());
      snapshot.run();
      assertThatThrownBy(snapshot::get).hasRootCauseMessage("no space left");
      assertThat(sortFiles()).isZero();
      model.check(backends.open(TestBackends.snapshot(backend)), KEYS);
    }
    assertThat(files()).isZero();
  }

  @Test
  void aBackendThatIsDisposedCancelsItsSnapshots() throws Exception {
    try (TestBackends backends = new TestBackends(TestSettings.TINY, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      new ModelStates().change(backend, new SplittableRandom(5), KEYS, 20_000);
      var notBegun = TestBackends.start(backend, TestBackends.inMemory());
      var begun = TestBackends.start(backend, TestBackends.inMemory());
      Thread writer = new Thread(begun);
      writer.start();
      backend.dispose();
      writer.join();
      assertThat(notBegun.isCancelled()).isTrue();
    }
    assertThat(files()).isZero();
  }

  private long files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.count();
    }
  }

  private long sortFiles() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.getFileName().toString().startsWith("sort-")).count();
    }
  }

  /** Storage whose streams accept some bytes and then fail. */
  private static final class FullDisk implements CheckpointStreamFactory {
    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
        CheckpointedStateScope scope) {
      return new CheckpointStateOutputStream() {
        private int taken;

        @Override
        public void write(int value) throws IOException {
          if (++taken > 50_000) {
            throw new IOException("no space left");
          }
        }

        @Override
        public long getPos() {
          return taken;
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
          throw new IOException("no space left");
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle stateHandle, CheckpointedStateScope scope) {
      return false;
    }

    @Override
    public List<StreamStateHandle> duplicate(
        List<StreamStateHandle> stateHandles, CheckpointedStateScope scope) {
      throw new UnsupportedOperationException();
    }
  }
}
