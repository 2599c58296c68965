package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;

/**
 * One backend with large value state: updates that are timed individually, and concurrent
 * checkpoints. A value contains its key, so every read is checked. For one thread.
 */
final class LargeState implements AutoCloseable {
  private static final long HIGHEST_NANOS = 100_000_000_000L;
  private static final int DIGITS = 2;
  private static final int CHECKED_KEYS = 1_000;

  /** The last bytes of each part of a value, of this length, may be the same in all parts. */
  private static final int PATTERN = 20;

  private final LargePlan plan;
  private final KeyGroupRange range;
  private final OpenBackend<Long> opened;
  private final ValueState<byte[]> state;
  private int next;

  /**
   * Opens the backend.
   *
   * @param handles the state to restore
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
            kind,
            LongSerializer.INSTANCE,
            new OpenBackend.Slot(plan.memoryBytes(), directory, plan.compression(), null),
            TtlTime.STANDING,
            range,
            handles);
    state =
        opened.state(
            new ValueStateDescriptor<>("largeState", BytePrimitiveArraySerializer.INSTANCE));
  }

  static Histogram newHistogram() {
    return new Histogram(HIGHEST_NANOS, DIGITS);
  }

  /** Writes values of random bytes, which cannot be compressed, except for those that repeat. */
  void load() throws Exception {
    byte[] value = new byte[plan.valueBytes()];
    SplittableRandom random = new SplittableRandom(1);
    for (long key = 0; key < plan.keys(); key++) {
      random.nextBytes(value);
      for (int at = 0; at < value.length; at++) {
        if (at % PATTERN >= PATTERN * (100 - plan.repeatedPercent()) / 100) {
          value[at] = (byte) (at % PATTERN);
        }
      }
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

  /** The keys are spread over all keys. */
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
        read(key);
      }
    }
  }

  /** Reads the value of any key; for a backend with all key groups. */
  void readAny(SplittableRandom random) throws Exception {
    read(random.nextInt(plan.keys()));
  }

  private void read(long key) throws Exception {
    opened.backend().setCurrentKey(key);
    check(key, state.value());
  }

  AbstractKeyedStateBackend<?> backend() {
    return opened.backend();
  }

  /** Makes updates, one at a time, and records their times in {@code nanos}. */
  TakenCheckpoint.Work updating(Histogram nanos) {
    return () -> changeNext(nanos);
  }

  /** Takes the only checkpoint of a backend, concurrently with updates. */
  TakenCheckpoint checkpoint(Path directory) throws Exception {
    return TakenCheckpoint.take(opened.backend(), 1, directory, updating(newHistogram()));
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
