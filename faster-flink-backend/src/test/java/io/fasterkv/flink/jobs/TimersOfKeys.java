package io.fasterkv.flink.jobs;

import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Sets a timer for each number that fires between the next number of its key and the one after
 * that. A number divisible by 3 deletes the timer of its key's previous number if the same reader
 * has emitted both.
 */
final class TimersOfKeys extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 100;
  private static final long DELETING = 3;

  private final long perReader;

  /** A timer's number, by its time. */
  private transient MapState<Long, Long> timers;

  static long key(long number) {
    return number % KEYS;
  }

  TimersOfKeys(long perReader) {
    this.perReader = perReader;
  }

  static List<String> expected(long numbers, long perReader) {
    return LongStream.range(0, numbers)
        .filter(
            number -> number + KEYS >= numbers || !deletesTheOneBefore(number + KEYS, perReader))
        .mapToObj(number -> fact(key(number), number, due(number)))
        .toList();
  }

  private static boolean deletesTheOneBefore(long number, long perReader) {
    return number % DELETING == 0
        && number >= KEYS
        && number / perReader == (number - KEYS) / perReader;
  }

  private static long due(long number) {
    return Times.of(number + KEYS) + KEYS / 2;
  }

  private static String fact(long key, long number, long time) {
    return "timer of " + key + ": " + number + " at " + time;
  }

  @Override
  public void open(OpenContext context) {
    timers =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("timers", Types.LONG, Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    context.timerService().registerEventTimeTimer(due(number));
    timers.put(due(number), number);
    if (deletesTheOneBefore(number, perReader)) {
      long before = due(number - KEYS);
      context.timerService().deleteEventTimeTimer(before);
      timers.remove(before);
    }
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    Long number = timers.get(timestamp);
    timers.remove(timestamp);
    out.collect(fact(context.getCurrentKey(), number == null ? -1 : number, timestamp));
  }
}
