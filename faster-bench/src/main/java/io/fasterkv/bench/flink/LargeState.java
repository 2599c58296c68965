package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import io.fasterkv.bench.ycsb.WrongAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * One backend with much value state: updates that are timed one by one, and checkpoints beside
 * them. A value holds its key, so that every read is a check. For one thread.
 */
final class LargeState implements AutoCloseable {
  private static final long HIGHEST_NANOS = 100_000_000_000L;
  private static final int DIGITS = 2;
  private static final int CHECKED_KEYS = 1_000;

  private final LargePlan plan;
  private final KeyGroupRange range;
  private final OpenBackend<Long> opened;
  private final ValueState<byte[]> state;
  private int next;

  /**
   * Opens it.
   *
   * @param handles what it begins with
   */
  LargeState(
      LargePlan plan,
      Backend kind,
      Path directory,
      KeyGroupRange range,
      Collection<KeyedStateHandle> handles)
      throws Exception {
    this.plan = plan;
    this.range = range;
    opened =
        OpenBackend.open(
            kind, LongSerializer.INSTANCE, plan.memoryBytes(), directory, range, handles);
    state =
        opened.state(
            new ValueStateDescriptor<>("largeState", BytePrimitiveArraySerializer.INSTANCE));
  }

  static Histogram newHistogram() {
    return new Histogram(HIGHEST_NANOS, DIGITS);
  }

  void load() throws Exception {
    byte[] value = new byte[LargePlan.VALUE_BYTES];
    new java.util.Random(1).nextBytes(value);
    for (long key = 0; key < plan.keys(); key++) {
      ByteBuffer.wrap(value).putLong(0, key);
      opened.backend().setCurrentKey(key);
      state.update(value);
    }
  }

  /** Reads, changes and writes the value of each key that changes, {@code passes} times. */
  void change(int passes, Histogram nanos) throws Exception {
    for (long i = 0; i < (long) passes * plan.changedKeys(); i++) {
      changeNext(nanos);
    }
  }

  private void changeNext(Histogram nanos) throws Exception {
    long key = nextOwnKey();
    long begin = System.nanoTime();
    opened.backend().setCurrentKey(key);
    byte[] value = state.value();
    check(key, value);
    value[Long.BYTES]++;
    state.update(value);
    nanos.recordValue(Math.min(System.nanoTime() - begin, HIGHEST_NANOS));
  }

  /** Spread over all keys. */
  private long nextOwnKey() {
    while (true) {
      long key = (long) next * LargePlan.ONE_CHANGES_IN;
      next = next + 1 == plan.changedKeys() ? 0 : next + 1;
      if (isOwn(key)) {
        return key;
      }
    }
  }

  private boolean isOwn(long key) {
    return range.contains(KeyGroupRangeAssignment.assignToKeyGroup(key, OpenBackend.KEY_GROUPS));
  }

  private static void check(long key, byte[] value) {
    if (value == null || ByteBuffer.wrap(value).getLong(0) != key) {
      throw new WrongAnswer("a value is not what was written: key=" + key);
    }
  }

  /** Reads some keys of the range. */
  void check() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < CHECKED_KEYS; i++) {
      long key = random.nextInt(plan.keys());
      if (isOwn(key)) {
        opened.backend().setCurrentKey(key);
        check(key, state.value());
      }
    }
  }

  /**
   * What a checkpoint has cost.
   *
   * @param uploadedBytes what it has written to its directory
   */
  record Checkpoint(
      KeyedStateHandle handle, long synchronousNanos, long nanos, long uploadedBytes) {}

  /**
   * Takes a checkpoint, while the task goes on with updates, and confirms it.
   *
   * @param beside times these updates
   */
  Checkpoint checkpoint(long id, Path directory, Histogram beside) throws Exception {
    long before = bytesOfFiles(directory);
    long begin = System.nanoTime();
    RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
        opened
            .backend()
            .snapshot(
                id,
                id,
                OpenBackend.checkpointsIn(directory),
                CheckpointOptions.forCheckpointWithDefaultLocation());
    long synchronous = System.nanoTime() - begin;
    Thread uploader = new Thread(snapshot, "checkpoint-" + id);
    uploader.start();
    while (!snapshot.isDone()) {
      changeNext(beside);
    }
    KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
    long nanos = System.nanoTime() - begin;
    uploader.join();
    opened.backend().notifyCheckpointComplete(id);
    if (handle == null) {
      throw new WrongAnswer("a checkpoint is empty: id=" + id);
    }
    return new Checkpoint(handle, synchronous, nanos, bytesOfFiles(directory) - before);
  }

  private static long bytesOfFiles(Path directory) throws IOException {
    Files.createDirectories(directory);
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(LargeState::size).sum();
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The key groups of one of two subtasks. */
  static List<KeyGroupRange> halves() {
    int middle = OpenBackend.KEY_GROUPS / 2;
    return List.of(
        KeyGroupRange.of(0, middle - 1), KeyGroupRange.of(middle, OpenBackend.KEY_GROUPS - 1));
  }

  @Override
  public void close() throws Exception {
    opened.close();
  }
}
