package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.TimerPlace;
import io.fasterkv.flink.snapshot.LogFile;
import io.fasterkv.flink.snapshot.LogFileReader;
import io.fasterkv.flink.snapshot.OpenStreams;
import io.fasterkv.flink.snapshot.StreamPool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what incremental checkpoints upload and contain, and what a restore reads from them. */
class IncrementalCheckpointTest extends IncrementalCheckpoints {
  private static final ValueStateDescriptor<byte[]> LARGE_VALUE =
      new ValueStateDescriptor<>("large value", BytePrimitiveArraySerializer.INSTANCE);
  private static final MapStateDescriptor<Integer, String> LARGE_MAP =
      new MapStateDescriptor<>("large map", IntSerializer.INSTANCE, StringSerializer.INSTANCE);

  private static final int LONG_BYTES = 300_000;

  @Test
  void aCheckpointUploadsAtMostATenthMoreThanWasWrittenSinceTheLast() throws Exception {
    backends = new TestBackends(TestSettings.ROOMY_INCREMENTAL, directory).compress(false);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    int keys = 100_000;
    put(backend, 0, keys, 1);
    take(backend);
    int changed = keys / 100;
    for (int round = 2; round < 12; round++) {
      long tail = backend.store().log().tailAddress();
      long before = uploadedBytes();
      put(backend, 0, changed, round);
      long written = backend.store().log().tailAddress() - tail;
      KeyedStateHandle handle = take(backend);
      long uploaded = uploadedBytes() - before;
      assertThat(uploaded).isLessThanOrEqualTo(written + written / 10);
      assertThat(handle.getCheckpointedSize()).isEqualTo(uploaded);
    }
  }

  @Test
  void noPartOfTheLogIsUploadedTwice() throws Exception {
    backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory).compress(false);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    Set<String> names = new HashSet<>();
    int uploads = 0;
    long sharedBefore = 0;
    for (int round = 0; round < 20; round++) {
      put(backend, 0, 2_000, round);
      for (HandleAndLocalPath file : take(backend).getSharedState()) {
        if (names.add(file.getLocalPath())) {
          uploads++;
        }
      }
      assertThat(files.sharedBytes()).isGreaterThan(sharedBefore);
      sharedBefore = files.sharedBytes();
    }
    assertThat(names).hasSize(uploads);
    // Each file lists its pieces of 4 KiB, with twelve bytes for each piece.
    long end =
        names.stream()
            .mapToLong(name -> Long.parseLong(name.substring(name.length() - 12), 16))
            .max()
            .orElseThrow();
    assertThat(sharedBefore).isBetween(end - 4096, end + end / 100 + 20 * 4096);
  }

  /** As in Flink's own test of the registry: known files are sent by name only. */
  @Test
  void filesThatAreKnownAreSentByName() throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.TINY_INCREMENTAL);
    put(backend, 0, 2_000, 1);
    int knownFiles = take(backend).getSharedState().size();
    put(backend, 0, 200, 2);
    IncrementalRemoteKeyedStateHandle second = write(backend, CheckpointType.CHECKPOINT);
    List<StreamStateHandle> known =
        second.getSharedState().stream()
            .map(HandleAndLocalPath::getHandle)
            .filter(PlaceholderStreamStateHandle.class::isInstance)
            .toList();
    assertThat(known).hasSize(knownFiles);
    int before = files.count();
    second.discardState();
    assertThat(files.count()).isEqualTo(before - 2);
    assertThat(write(backend, CheckpointType.FULL_CHECKPOINT).getSharedState())
        .noneMatch(file -> file.getHandle() instanceof PlaceholderStreamStateHandle);
  }

  /** The log and the uploads continue where the checkpoint's log ended. */
  @Tag("slow")
  @Test
  void aRestoredSubtaskContinuesWithTheSameFiles() throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.ROOMY_INCREMENTAL);
    put(backend, 0, 20_000, 1);
    IncrementalRemoteKeyedStateHandle first = take(backend);
    backend.dispose();
    FasterKeyedStateBackend<Integer> restored = open(TestSettings.ROOMY_INCREMENTAL, first);
    assertHolds(restored, 0, 20_000, 1);
    long before = uploadedBytes();
    put(restored, 0, 100, 2);
    IncrementalRemoteKeyedStateHandle second = take(restored);
    assertThat(uploadedBytes() - before).isLessThan(first.getStateSize() / 20);
    FasterKeyedStateBackend<Integer> again = open(TestSettings.ROOMY_INCREMENTAL, second);
    assertHolds(again, 0, 100, 2);
    assertHolds(again, 100, 20_000, 1);
  }

  /** Timers are restored from the heap or the store, to the heap or the store. */
  @ParameterizedTest
  @CsvSource({"HEAP, HEAP", "STORE, STORE", "HEAP, STORE", "STORE, HEAP"})
  void timersAreInTheCheckpointAtAnyParallelism(TimerPlace before, TimerPlace after)
      throws Exception {
    backends = backends(before);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    var queue = timers(backend);
    for (int key = 0; key < 500; key++) {
      queue.add(new TimerHeapInternalTimer<>(7L * key, key, VoidNamespace.INSTANCE));
    }
    put(backend, 0, 10, 1);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    backends.close();
    backends = backends(after);
    List<KeyedStateHandle> halves = new ArrayList<>();
    List<Integer> keys = new ArrayList<>();
    for (KeyGroupRange range : List.of(KeyGroupRange.of(0, 11), KeyGroupRange.of(12, 31))) {
      FasterKeyedStateBackend<Integer> half = backends.open(range, List.of(handle));
      keys.addAll(keys(half));
      halves.add(take(half));
    }
    assertThat(keys).hasSize(500).doesNotHaveDuplicates();
    assertThat(keys(backends.open(ALL, halves))).hasSize(500).doesNotHaveDuplicates();
  }

  private TestBackends backends(TimerPlace timers) {
    Configuration config = TestSettings.ROOMY_INCREMENTAL.config();
    config.set(FasterOptions.TIMERS, timers);
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    return new TestBackends(config);
  }

  private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
      timers(FasterKeyedStateBackend<Integer> backend) {
    return backend.create(
        "timers", new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
  }

  private static List<Integer> keys(FasterKeyedStateBackend<Integer> backend) throws Exception {
    List<Integer> keys = new ArrayList<>();
    try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> all =
        timers(backend).iterator()) {
      all.forEachRemaining(timer -> keys.add(timer.getKey()));
    }
    return keys;
  }

  /** Files are compressed by default, unless Flink's option disables compression. */
  @Test
  void filesOfTheLogAreCompressed() throws Exception {
    backends = new TestBackends(TestSettings.ROOMY_INCREMENTAL, directory);
    long byDefault = bytesOf(2_000);
    backends.compress(true);
    assertThat(bytesOf(2_000)).isEqualTo(byDefault);
    backends.compress(false);
    assertThat(bytesOf(2_000)).isGreaterThan(2 * byDefault);
  }

  private long bytesOf(int keys) throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, keys, 1);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    assertHolds(backends.open(handle), 0, keys, 1);
    return handle.getStateSize();
  }

  /**
   * The log is either opened unchanged or read record by record. In a compressed block, a damaged
   * reference may lead to equal bytes, which leaves the log unchanged.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void damageIsReportedWithFileAndOffset(boolean isCompressed) throws Exception {
    backends = tinyPagesWith("8mb").compress(isCompressed);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, 200, 1);
    take(backend);
    put(backend, 0, 200, 2);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    // The index of 8 MiB does not fit in this memory.
    TestBackends byRecords = tinyPagesWith("1mb");
    int refused = 0;
    SplittableRandom random = new SplittableRandom(3);
    for (StreamStateHandle file : handle.streamSubHandles().toList()) {
      byte[] right = files.bytes(file);
      for (int i = 0; i < 20; i++) {
        byte[] wrong =
            random.nextInt(4) == 0
                ? Arrays.copyOf(right, random.nextInt(right.length))
                : right.clone();
        if (wrong.length == right.length) {
          wrong[random.nextInt(wrong.length)] ^= (byte) (1 + random.nextInt(255));
        }
        files.replace(file, wrong);
        for (TestBackends restoring : List.of(backends, byRecords)) {
          FasterKeyedStateBackend<Integer> restored;
          try {
            restored = restoring.open(handle);
          } catch (BackendBuildingException damaged) {
            assertThat(damaged)
                .hasStackTraceContaining("file=" + file)
                .hasStackTraceContaining("offset=");
            refused++;
            continue;
          }
          assertThat(isCompressed).isTrue();
          assertHolds(restored, 0, 200, 2);
          restored.dispose();
        }
      }
      files.replace(file, right);
    }
    assertHolds(backends.open(handle), 0, 200, 2);
    assertHolds(byRecords.open(handle), 0, 200, 2);
    assertThat(refused).isGreaterThan(20);
    byRecords.close();
  }

  private static void readAll(FasterKeyedStateBackend<Integer> backend, int keys) throws Exception {
    for (int key = 0; key < keys; key++) {
      backend.setCurrentKey(key);
      state(backend).value();
    }
  }

  /** The index is built from the files' digests, so damage is reported only by a later read. */
  @Tag("slow")
  @Test
  void aLogOfLargerRecordsIsOpenedBeforeItIsRead() throws Exception {
    int bytes = 2_000;
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.ROOMY_INCREMENTAL);
    put(backend, 0, 3_000, 1, bytes);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    ValueState<byte[]> state = state(restored);
    for (int key = 0; key < 3_000; key++) {
      restored.setCurrentKey(key);
      assertThat(state.value()).hasSize(bytes).containsOnly(1);
    }
    restored.dispose();
    for (HandleAndLocalPath named : handle.getSharedState()) {
      StreamPool streams = new StreamPool(new OpenStreams(System.getLogger("test")), 1);
      assertThat(LogFileReader.open(LogFile.of(named), 1 << 20, streams).hasDigest()).isTrue();
      streams.close();
      byte[] wrong = files.bytes(named.getHandle()).clone();
      for (int at = wrong.length / 4; at < wrong.length / 2; at += 1_000) {
        wrong[at] ^= 1;
      }
      files.replace(named.getHandle(), wrong);
    }
    FasterKeyedStateBackend<Integer> damaged = backends.open(handle);
    assertThatThrownBy(() -> readAll(damaged, 3_000))
        .hasStackTraceContaining("file=")
        .hasStackTraceContaining("offset=");
  }

  /** A store with less memory than the checkpoint's index needs inserts the records one by one. */
  @Test
  void aLogThatDoesNotFitIsReadRecordByRecord() throws Exception {
    backends = tinyPagesWith("32mb");
    FasterKeyedStateBackend<Integer> backend = backends.open();
    put(backend, 0, 5_000, 1);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    try (TestBackends small = tinyPagesWith("1mb")) {
      assertHolds(small.open(handle), 0, 5_000, 1);
    }
  }

  @Test
  void aLogWithPagesOfAnotherSizeIsRefusedByName() throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.TINY_INCREMENTAL);
    put(backend, 0, 10, 1);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    try (TestBackends others = new TestBackends(TestSettings.ROOMY_INCREMENTAL, directory)) {
      assertThatThrownBy(() -> others.open(handle))
          .hasStackTraceContaining(
              "a checkpoint has log pages of another size: pageBytes=4096, allowed=65536");
    }
  }

  /** The page size is not set, so it depends on the store's memory. */
  @Test
  void longRecordsAreRestoredToAStoreWithLessMemory() throws Exception {
    backends = withMemory(128);
    try (TestBackends to = withMemory(16)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      putLong(backend, 1);
      FasterKeyedStateBackend<Integer> restored = to.open(TestBackends.snapshot(backend));
      assertThat(restored.store().config().memoryBytes()).isLessThanOrEqualTo(16 << 20);
      assertHoldsLong(restored, 1);
    }
  }

  @Test
  void longRecordsAreRestoredAfterThoseOfAStoreWithSmallPages() throws Exception {
    backends = withMemory(4);
    KeyGroupRange low = KeyGroupRange.of(0, TestBackends.KEY_GROUPS / 2 - 1);
    KeyGroupRange high = KeyGroupRange.of(TestBackends.KEY_GROUPS / 2, TestBackends.KEY_GROUPS - 1);
    int lowKey = keyIn(low);
    int highKey = keyIn(high);
    try (TestBackends large = withMemory(128);
        TestBackends to = withMemory(32)) {
      FasterKeyedStateBackend<Integer> first = backends.open(low, List.of());
      putLong(first, lowKey);
      FasterKeyedStateBackend<Integer> second = large.open(high, List.of());
      putLong(second, highKey);
      FasterKeyedStateBackend<Integer> restored =
          to.open(TestBackends.snapshot(first), TestBackends.snapshot(second));
      assertHoldsLong(restored, lowKey);
      assertHoldsLong(restored, highKey);
    }
  }

  private static int keyIn(KeyGroupRange range) {
    return IntStream.iterate(0, key -> key + 1)
        .filter(key ->
            range.contains(KeyGroupRangeAssignment.assignToKeyGroup(key, TestBackends.KEY_GROUPS)))
        .findFirst()
        .orElseThrow();
  }

  private static void putLong(FasterKeyedStateBackend<Integer> backend, int key) throws Exception {
    backend.setCurrentKey(key);
    ModelStates.state(backend, LARGE_VALUE)
        .update(Seeds.bytes(new SplittableRandom(key), LONG_BYTES));
    ModelStates.state(backend, LARGE_MAP).put(key, "m".repeat(LONG_BYTES));
  }

  private static void assertHoldsLong(FasterKeyedStateBackend<Integer> backend, int key)
      throws Exception {
    backend.setCurrentKey(key);
    assertThat(ModelStates.state(backend, LARGE_VALUE).value())
        .isEqualTo(Seeds.bytes(new SplittableRandom(key), LONG_BYTES));
    assertThat(ModelStates.state(backend, LARGE_MAP).get(key)).isEqualTo("m".repeat(LONG_BYTES));
  }

  private TestBackends withMemory(int mebiBytes) {
    Configuration config = TestSettings.ROOMY_INCREMENTAL.config();
    config.set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(mebiBytes));
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    return new TestBackends(config);
  }

  /** A file with an action that runs when it is opened. */
  private static final class Watched extends ByteStreamStateHandle {
    private static final long serialVersionUID = 1L;
    private final transient Callable<FSDataInputStream> opening;

    Watched(String name, long bytes, Callable<FSDataInputStream> opening) {
      super(name, new byte[(int) bytes]);
      this.opening = opening;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
      try {
        return opening.call();
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  /** The same checkpoint with other handles for its log files. */
  private static IncrementalRemoteKeyedStateHandle watched(
      IncrementalRemoteKeyedStateHandle handle,
      Function<StreamStateHandle, Callable<FSDataInputStream>> opening) {
    return new IncrementalRemoteKeyedStateHandle(
        handle.getBackendIdentifier(),
        handle.getKeyGroupRange(),
        handle.getCheckpointId(),
        handle.getSharedState().stream()
            .map(file ->
                HandleAndLocalPath.of(
                    new Watched(
                        file.getLocalPath(),
                        file.getHandle().getStateSize(),
                        opening.apply(file.getHandle())),
                    file.getLocalPath()))
            .toList(),
        handle.getPrivateState(),
        handle.getMetaDataStateHandle());
  }

  @Test
  void aRestoreThatIsCancelledEndsWhileItReadsTheLog() throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.ROOMY_INCREMENTAL);
    for (int round = 0; round < 3; round++) {
      put(backend, 0, 1_000, round);
      take(backend);
    }
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    AtomicInteger opened = new AtomicInteger();
    int heads = handle.getSharedState().size();
    assertThatThrownBy(() ->
            backends.open(
                watched(
                    handle,
                    file ->
                        () -> {
                          // Each file is opened once.
                          if (opened.incrementAndGet() == heads) {
                            backends.cancel();
                          }
                          return file.openInputStream();
                        })))
        .hasRootCauseInstanceOf(CancelTaskException.class);
    assertThat(opened).hasValue(heads);
  }

  @Test
  void aRestoreThatRunsOutOfHeapGivesItsMemoryBack() throws Exception {
    Configuration config = TestSettings.MANAGED.config();
    config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    backends = new TestBackends(config);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    long memory = backend.store().config().memoryBytes();
    put(backend, 0, 10, 1);
    IncrementalRemoteKeyedStateHandle handle = take(backend);
    backend.dispose();
    IncrementalRemoteKeyedStateHandle broken =
        watched(
            handle,
            file ->
                () -> {
                  throw new OutOfMemoryError("none left");
                });
    assertThatThrownBy(() -> backends.open(broken)).hasRootCauseInstanceOf(OutOfMemoryError.class);
    assertThat(directory).isEmptyDirectory();
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    assertThat(restored.store().config().memoryBytes()).isEqualTo(memory);
    assertHolds(restored, 0, 10, 1);
  }

  private TestBackends tinyPagesWith(String memory) {
    return new TestBackends(
        TestSettings.TINY_INCREMENTAL
            .config()
            .set(FasterOptions.FIXED_MEMORY, MemorySize.parse(memory))
            .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString())));
  }
}
