package io.fasterkv.demo.example;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keeps every kind of keyed state for each word and emits it at the end of the input.
 *
 * <p>The end of the input is the last watermark. A timer at that time fires once for each word,
 * after all windows have fired, because this function's time is the earlier of its two inputs'.
 */
@SuppressWarnings("NullAway.Init") // the states are there from open() on
public final class WordStates
    extends KeyedCoProcessFunction<String, Word, WindowCount, WordSummary> {
  /** How many occurrences of each word the list keeps. */
  public static final int FIRST_OCCURRENCES = 10;

  private static final long serialVersionUID = 1;
  private static final long END_OF_INPUT = Long.MAX_VALUE;

  private transient ValueState<Long> count;
  private transient MapState<String, Integer> files;
  private transient ListState<Occurrence> first;
  private transient ValueState<WindowTotals> windows;
  private transient ReducingState<Integer> furthest;
  private transient AggregatingState<Integer, Double> mean;

  @Override
  public void open(OpenContext context) {
    var states = getRuntimeContext();
    count = states.getState(new ValueStateDescriptor<>("count", Types.LONG));
    files = states.getMapState(new MapStateDescriptor<>("files", Types.STRING, Types.INT));
    first =
        states.getListState(
            new ListStateDescriptor<>("first", TypeInformation.of(Occurrence.class)));
    windows =
        states.getState(
            new ValueStateDescriptor<>("windows", TypeInformation.of(WindowTotals.class)));
    furthest =
        states.getReducingState(new ReducingStateDescriptor<>("furthest", Math::max, Types.INT));
    mean =
        states.getAggregatingState(
            new AggregatingStateDescriptor<>(
                "mean", new MeanPosition(), TypeInformation.of(MeanPosition.Sum.class)));
  }

  @Override
  public void processElement1(Word word, Context context, Collector<WordSummary> out)
      throws Exception {
    Long seen = count.value();
    long before = seen == null ? 0 : seen;
    count.update(before + 1);
    if (before == 0) {
      context.timerService().registerEventTimeTimer(END_OF_INPUT);
    }
    if (before < FIRST_OCCURRENCES) {
      first.add(new Occurrence(word.file(), word.position()));
    }
    Integer inFile = files.get(word.file());
    files.put(word.file(), inFile == null ? 1 : inFile + 1);
    furthest.add(word.position());
    mean.add(word.position());
  }

  @Override
  public void processElement2(WindowCount window, Context context, Collector<WordSummary> out)
      throws Exception {
    WindowTotals totals = windows.value();
    windows.update((totals == null ? WindowTotals.NONE : totals).plus(window.count()));
  }

  @Override
  public void onTimer(long time, OnTimerContext context, Collector<WordSummary> out)
      throws Exception {
    Map<String, Integer> inFiles = new HashMap<>();
    files.entries().forEach(entry -> inFiles.put(entry.getKey(), entry.getValue()));
    List<Occurrence> occurrences = new ArrayList<>();
    first.get().forEach(occurrences::add);
    WindowTotals totals = windows.value();
    out.collect(
        new WordSummary(
            context.getCurrentKey(),
            count.value(),
            inFiles,
            occurrences,
            totals == null ? WindowTotals.NONE : totals,
            new WordSummary.Positions(furthest.get(), mean.get())));
  }
}
