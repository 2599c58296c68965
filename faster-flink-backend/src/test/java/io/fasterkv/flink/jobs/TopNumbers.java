package io.fasterkv.flink.jobs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Finds each key's numbers with the highest scores, in a map of the best and in a list of all. */
final class TopNumbers extends KeyedProcessFunction<Long, Long, String> {
  private static final long serialVersionUID = 1L;
  private static final long KEYS = 40;
  private static final int BEST = 5;
  private static final Comparator<Long> BY_SCORE =
      Comparator.comparing(TopNumbers::score).thenComparing(Comparator.naturalOrder());

  private transient MapState<Long, Long> best;
  private transient ListState<Long> all;

  static long key(long number) {
    return number % KEYS;
  }

  private static long score(long number) {
    return number * 31 % 1_009;
  }

  static List<String> expected(long numbers) {
    return LongStream.range(0, KEYS)
        .mapToObj(key -> {
          List<Long> mine =
              LongStream.range(0, numbers).filter(n -> key(n) == key).boxed().toList();
          return fact(key, best(mine), best(mine));
        })
        .toList();
  }

  private static List<Long> best(List<Long> numbers) {
    return numbers.stream().sorted(BY_SCORE.reversed()).limit(BEST).toList();
  }

  private static String fact(long key, List<Long> best, List<Long> bestOfAll) {
    return "best of " + key + ": " + best + ", of all " + bestOfAll;
  }

  @Override
  public void open(OpenContext context) {
    best =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("best", Types.LONG, Types.LONG));
    all = getRuntimeContext().getListState(new ListStateDescriptor<>("all", Types.LONG));
  }

  @Override
  public void processElement(Long number, Context context, Collector<String> out) throws Exception {
    all.add(number);
    best.put(number, score(number));
    List<Long> kept = new ArrayList<>();
    best.keys().forEach(kept::add);
    if (kept.size() > BEST) {
      best.remove(kept.stream().min(BY_SCORE).orElseThrow());
    }
    context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
      throws Exception {
    List<Long> kept = new ArrayList<>();
    best.keys().forEach(kept::add);
    List<Long> seen = new ArrayList<>();
    all.get().forEach(seen::add);
    out.collect(fact(context.getCurrentKey(), best(kept), best(seen)));
  }
}
