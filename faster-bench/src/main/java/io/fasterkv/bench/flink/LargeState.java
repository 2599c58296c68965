package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import io.fasterkv.bench.ycsb.WrongAnswer;
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
            kind,
            LongSerializer.INSTANCE,
            plan.memoryBytes(),
            directory,
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

  /** Values of random bytes, which nobody can make shorter. */
  void load() throws Exception {
    byte[] value = new byte[plan.valueBytes()];
    SplittableRandom random = new SplittableRandom(1);
    for (long key = 0; key < plan.keys(); key++) {
      random.nextBytes(value);
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

  /** Updates, one at a time, which {@code nanos} times. */
  TakenCheckpoint.Work updating(Histogram nanos) {
    return () -> changeNext(nanos);
  }

  /** Takes the only checkpoint of a backend, beside updates. */
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
