package io.fasterkv.flink.jobs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keeps values that are derived from a key's numbers in states of each kind, and timers. The
 * numbers are in order, so each one determines what all states of its key must contain. The job
 * fails if they contain anything else.
 */
final class CheckedStates extends KeyedProcessFunction<Long, Long, Long> {
  static final long KEYS = 500;

  /** Count of the numbers that all subtasks have processed since the last reset. */
  static final AtomicLong taken = new AtomicLong();

  /** Number of keys whose timer for the end of time has fired. */
  static final AtomicInteger ended = new AtomicInteger();

  private static final long serialVersionUID = 1L;
  private static final int IN_MAP = 3;
  private static final long DELAY = 2 * KEYS + KEYS / 2;

  private final long numbers;
  private transient ValueState<Long> count;
  private transient ReducingState<Long> sum;
  private transient ListState<Long> all;
  private transient MapState<Long, Long> latest;
  private transient ValueState<Long> fired;

  /** Checks the numbers from 0 up to {@code numbers}, a multiple of {@link #KEYS}. */
  CheckedStates(long numbers) {
    this.numbers = numbers;
  }

  static long key(long number) {
    return number % KEYS;
  }

  @Override
  public void open(OpenContext context) {
    count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    sum =
        getRuntimeContext()
            .getReducingState(new ReducingStateDescriptor<>("sum", Long::sum, Types.LONG));
    all = getRuntimeContext().getListState(new ListStateDescriptor<>("all", Types.LONG));
    latest =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("latest", Types.LONG, Types.LONG));
    fired = getRuntimeContext().getState(new ValueStateDescriptor<>("fired", Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
    check(number);
    long before = number / KEYS;
    count.update(before + 1);
    sum.add(number);
    all.add(number);
    latest.put(number, -number);
    latest.remove(number - IN_MAP * KEYS);
    context.timerService().registerEventTimeTimer(number + DELAY);
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
    taken.incrementAndGet();
  }

  /** Checks that all states match the numbers before {@code next}. */
  private void check(long next) throws Exception {
    List<Long> before = new ArrayList<>();
    for (long number = key(next); number < next; number += KEYS) {
      before.add(number);
    }
    expect("count", next, before.isEmpty() ? null : (long) before.size(), count.value());
    expect("sum", next, before.stream().reduce(Long::sum).orElse(null), sum.get());
    List<Long> listed = new ArrayList<>();
    Iterable<Long> found = all.get();
    if (found != null) {
      found.forEach(listed::add);
    }
    expect("list", next, before, listed);
    Map<Long, Long> mapped = new HashMap<>();
    latest.entries().forEach(entry -> mapped.put(entry.getKey(), entry.getValue()));
    Map<Long, Long> expected = new HashMap<>();
    before
        .subList(Math.max(0, before.size() - IN_MAP), before.size())
        .forEach(number -> expected.put(number, -number));
    expect("map", next, expected, mapped);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<Long> out)
      throws Exception {
    long key = context.getCurrentKey();
    if (timestamp == Long.MAX_VALUE) {
      check(key + numbers);
      expect("last timer", key, key + numbers - KEYS, fired.value());
      ended.incrementAndGet();
    } else {
      long number = timestamp - DELAY;
      expect("timer before", number, number < KEYS ? null : number - KEYS, fired.value());
      fired.update(number);
    }
  }

  private static void expect(String what, long number, Object expected, Object found) {
    if (!Objects.equals(expected, found)) {
      throw new IllegalStateException(
          what + " is wrong: number=" + number + ", expected=" + expected + ", found=" + found);
    }
  }
}
