package io.fasterkv.bench.soak;

import io.fasterkv.bench.flink.OpenBackend;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;

/**
 * One backend with state of every kind under a fixed number of keys. A record increments its key's
 * count; appends the count to a list that is checked and cleared when it is full; puts it into a
 * map with a fixed number of entries; sets a timer, and removes those that are due; and writes a
 * marker under a unique key that expires after a while. For one thread.
 */
final class SoakState implements AutoCloseable {
  /** Maximum number of entries of a map and of a list. */
  private static final int ENTRIES = 16;

  private final OpenBackend<Long> opened;
  private final AbstractKeyedStateBackend<Long> backend;
  private final ValueState<Long> counts;
  private final ListState<Long> lists;
  private final MapState<Long, Long> maps;
  private final ValueState<Long> marks;
  private final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> timers;
  private final SplittableRandom random = new SplittableRandom(1);
  private final int keys;
  private long records;

  SoakState(SoakPlan plan, Path directory) throws Exception {
    keys = plan.keys();
    opened =
        OpenBackend.open(
            plan.backend(),
            LongSerializer.INSTANCE,
            OpenBackend.Slot.of(plan.memoryBytes(), directory),
            System::currentTimeMillis,
            OpenBackend.wholeRange(),
            List.of());
    backend = opened.backend();
    counts = opened.state(new ValueStateDescriptor<>("counts", LongSerializer.INSTANCE));
    lists = opened.state(new ListStateDescriptor<>("lists", LongSerializer.INSTANCE));
    maps =
        opened.state(
            new MapStateDescriptor<>("maps", LongSerializer.INSTANCE, LongSerializer.INSTANCE));
    ValueStateDescriptor<Long> mark = new ValueStateDescriptor<>("marks", LongSerializer.INSTANCE);
    mark.enableTimeToLive(StateTtlConfig.newBuilder(plan.timeToLive()).build());
    marks = opened.state(mark);
    timers =
        backend.create(
            "timers",
            new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
  }

  AbstractKeyedStateBackend<Long> backend() {
    return backend;
  }

  /** Gives every key its count, map and list. */
  void load() throws Exception {
    for (long key = 0; key < keys; key++) {
      backend.setCurrentKey(key);
      counts.update(0L);
      for (long entry = 0; entry < ENTRIES; entry++) {
        maps.put(entry, 0L);
      }
    }
  }

  /** Processes one record. */
  void step() throws Exception {
    records++;
    long key = random.nextInt(keys);
    backend.setCurrentKey(key);
    long count = counts.value() + 1;
    counts.update(count);
    addToList(key, count);
    addToMap(key, count);
    timers.add(new TimerHeapInternalTimer<>(records + keys, key, VoidNamespace.INSTANCE));
    backend.setCurrentKey(keys + records);
    marks.update(records);
    fireTimers();
  }

  private void addToList(long key, long count) throws Exception {
    lists.add(count);
    if (count % ENTRIES == 0) {
      long expected = count - ENTRIES;
      for (long element : lists.get()) {
        expected++;
        check(key, "list", element, expected);
      }
      check(key, "list's end", expected, count);
      lists.clear();
    }
  }

  private void addToMap(long key, long count) throws Exception {
    Long before = maps.get(count % ENTRIES);
    check(key, "map", before == null ? -1 : before, Math.max(0, count - ENTRIES));
    maps.put(count % ENTRIES, count);
  }

  private void fireTimers() throws Exception {
    for (TimerHeapInternalTimer<Long, VoidNamespace> next = timers.peek();
        next != null && next.getTimestamp() <= records;
        next = timers.peek()) {
      timers.poll();
      backend.setCurrentKey(next.getKey());
      check(next.getKey(), "timer", next.getTimestamp(), records);
      if (counts.value() == 0) {
        throw new WrongAnswer("a timer's key was never counted: key=" + next.getKey());
      }
    }
  }

  private static void check(long key, String what, long found, long expected) {
    if (found != expected) {
      throw new WrongAnswer(
          "state is not what was written: what="
              + what
              + ", key="
              + key
              + ", found="
              + found
              + ", expected="
              + expected);
    }
  }

  @Override
  public void close() throws Exception {
    opened.close();
  }
}
