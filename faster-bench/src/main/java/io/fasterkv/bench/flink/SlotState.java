package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryManagerBuilder;

/**
 * The operators of a row on one backend, with their state; they share a slot's memory as in a job.
 * A value contains its key, so every read is checked. For one thread.
 */
final class SlotState implements AutoCloseable {
  private static final int CALLS = 100;

  private final List<Opened> operators = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(5);
  private final int hottest;

  private record Opened(OpenBackend<Long> backend, ValueState<byte[]> state, int keys, double to) {}

  /** Opens all operators, one after the other, and loads their state. */
  SlotState(SlotPlan plan, SlotRow row, Backend kind, Path directory) throws Exception {
    MemoryManager memory =
        MemoryManagerBuilder.newBuilder().setMemorySize(plan.memoryBytes()).build();
    List<SlotRow.Operator> planned = row.operators();
    hottest =
        IntStream.range(0, planned.size())
            .boxed()
            .max(Comparator.comparingDouble(i -> planned.get(i).accesses()))
            .orElseThrow();
    double to = 0;
    try {
      for (SlotRow.Operator operator : planned) {
        OpenBackend<Long> backend =
            OpenBackend.open(
                kind,
                LongSerializer.INSTANCE,
                OpenBackend.Slot.shared(memory, directory.resolve("operator-" + operators.size())),
                TtlTime.STANDING,
                OpenBackend.wholeRange(),
                List.of());
        to += operator.accesses();
        double bytes =
            operator.state() * row.timesMemory() * plan.memoryBytes() / plan.stateDivisor();
        operators.add(
            new Opened(
                backend,
                backend.state(
                    new ValueStateDescriptor<>("values", BytePrimitiveArraySerializer.INSTANCE)),
                (int) Math.max(1, bytes / SlotPlan.VALUE_BYTES),
                to));
      }
      load();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private void load() throws Exception {
    byte[] value = new byte[SlotPlan.VALUE_BYTES];
    for (Opened operator : operators) {
      for (long key = 0; key < operator.keys; key++) {
        random.nextBytes(value);
        ByteBuffer.wrap(value).putLong(0, key);
        operator.backend.backend().setCurrentKey(key);
        operator.state.update(value);
      }
    }
  }

  /**
   * What was measured in a turn.
   *
   * @param opsPerMilli a read and an update count as one
   * @param hitRate the part of the most used operator's accesses that found their record in memory;
   *     0 for a backend that does not count them
   */
  record Turn(double opsPerMilli, double hitRate) {}

  /** Reads, changes and writes values for this time. */
  Turn run(long nanos) throws Exception {
    Gauges hot = operators.get(hottest).backend.gauges();
    long hits = hits(hot);
    long misses = hot.value("hitsDisk");
    double rate = change(nanos);
    hits = hits(hot) - hits;
    misses = hot.value("hitsDisk") - misses;
    return new Turn(rate, (double) hits / Math.max(1, hits + misses));
  }

  private static long hits(Gauges gauges) {
    return gauges.value("hitsMutable") + gauges.value("hitsReadOnly");
  }

  /** Changes values for this time; returns how many per millisecond. */
  private double change(long nanos) throws Exception {
    long begin = System.nanoTime();
    long calls = 0;
    long now = begin;
    while (now - begin < nanos) {
      for (int i = 0; i < CALLS; i++) {
        change(operator(random.nextDouble()));
      }
      calls += CALLS;
      now = System.nanoTime();
    }
    return calls * 1e6 / (now - begin);
  }

  private Opened operator(double at) {
    for (Opened each : operators) {
      if (at < each.to) {
        return each;
      }
    }
    return operators.getLast();
  }

  private void change(Opened operator) throws Exception {
    long key = random.nextInt(operator.keys);
    operator.backend.backend().setCurrentKey(key);
    byte[] value = operator.state.value();
    if (value == null || ByteBuffer.wrap(value).getLong(0) != key) {
      throw new WrongAnswer("a value is not what was written: key=" + key);
    }
    value[Long.BYTES]++;
    operator.state.update(value);
  }

  @Override
  public void close() throws Exception {
    // The first environment that closes ends the memory of all.
    operators.forEach(operator -> operator.backend.backend().dispose());
    for (Opened operator : operators) {
      operator.backend.close();
    }
    operators.clear();
  }
}
