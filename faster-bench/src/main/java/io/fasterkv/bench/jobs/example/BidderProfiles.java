package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * How many bids each bidder makes in each ten seconds: a process function with a map, a value with
 * a time to live, and timers.
 */
public final class BidderProfiles {
  private static final long PERIOD_MILLIS = Duration.ofSeconds(10).toMillis();
  private static final Duration FORGOTTEN = Duration.ofDays(1);

  private BidderProfiles() {}

  /** Emits bidder, end of the period and count; end and count are 0 for a new bidder. */
  public static DataStream<Tuple3<Long, Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(Bid::bidder).process(new Profile());
  }

  private static final class Profile
      extends KeyedProcessFunction<Long, Bid, Tuple3<Long, Long, Long>> {
    private static final long serialVersionUID = 1;

    private transient MapState<Long, Long> counts;
    private transient ValueState<Boolean> known;

    @Override
    public void open(OpenContext context) {
      counts =
          getRuntimeContext()
              .getMapState(new MapStateDescriptor<>("counts", Types.LONG, Types.LONG));
      ValueStateDescriptor<Boolean> ofKnown = new ValueStateDescriptor<>("known", Types.BOOLEAN);
      ofKnown.enableTimeToLive(StateTtlConfig.newBuilder(FORGOTTEN).build());
      known = getRuntimeContext().getState(ofKnown);
    }

    @Override
    public void processElement(Bid bid, Context context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      if (known.value() == null) {
        out.collect(Tuple3.of(bid.bidder(), 0L, 0L));
      }
      known.update(true);
      long end = (bid.time() / PERIOD_MILLIS + 1) * PERIOD_MILLIS;
      Long count = counts.get(end);
      counts.put(end, count == null ? 1 : count + 1);
      context.timerService().registerEventTimeTimer(end);
    }

    @Override
    public void onTimer(long end, OnTimerContext context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      out.collect(Tuple3.of(context.getCurrentKey(), end, counts.get(end)));
      counts.remove(end);
    }
  }
}
