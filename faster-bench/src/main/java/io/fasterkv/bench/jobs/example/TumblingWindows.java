package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** The median price that each bidder offers in ten seconds: windows that keep all elements. */
public final class TumblingWindows {
  private static final Duration SIZE = Duration.ofSeconds(10);

  private TumblingWindows() {}

  /** Emits bidder, end and median. */
  public static DataStream<Tuple3<Long, Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(Bid::bidder).window(TumblingEventTimeWindows.of(SIZE)).process(new Median());
  }

  private static final class Median
      extends ProcessWindowFunction<Bid, Tuple3<Long, Long, Long>, Long, TimeWindow> {
    private static final long serialVersionUID = 1;

    @Override
    public void process(
        Long bidder, Context context, Iterable<Bid> bids, Collector<Tuple3<Long, Long, Long>> out) {
      List<Long> prices = new ArrayList<>();
      bids.forEach(bid -> prices.add(bid.price()));
      Collections.sort(prices);
      out.collect(
          Tuple3.of(bidder, context.window().getEnd(), prices.get((prices.size() - 1) / 2)));
    }
  }
}
