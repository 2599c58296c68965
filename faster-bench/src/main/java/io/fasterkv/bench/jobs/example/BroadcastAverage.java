package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Bids above the average first price of the auctions that opened in the ten seconds before. Each
 * task receives all auctions. A bid waits until the watermark says that all these auctions have
 * arrived.
 */
public final class BroadcastAverage {
  private static final long PERIOD_MILLIS = Duration.ofSeconds(10).toMillis();

  /** Count and sum of the first prices, for each period. */
  private static final MapStateDescriptor<Long, Tuple2<Long, Long>> SUMS =
      new MapStateDescriptor<>("sums", Types.LONG, Types.TUPLE(Types.LONG, Types.LONG));

  private BroadcastAverage() {}

  /** Emits auction, bidder and price. */
  public static DataStream<Tuple3<Long, Long, Long>> of(
      DataStream<Auction> auctions, DataStream<Bid> bids) {
    return bids.keyBy(Bid::auction).connect(auctions.broadcast(SUMS)).process(new Above());
  }

  private static final class Above
      extends KeyedBroadcastProcessFunction<Long, Bid, Auction, Tuple3<Long, Long, Long>> {
    private static final long serialVersionUID = 1;

    private transient MapState<Long, List<Bid>> waiting;

    @Override
    public void open(OpenContext context) {
      waiting =
          getRuntimeContext()
              .getMapState(
                  new MapStateDescriptor<>(
                      "waiting", Types.LONG, Types.LIST(Types.POJO(Bid.class))));
    }

    @Override
    public void processBroadcastElement(
        Auction auction, Context context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      long period = auction.time() / PERIOD_MILLIS;
      Tuple2<Long, Long> sum = context.getBroadcastState(SUMS).get(period);
      context
          .getBroadcastState(SUMS)
          .put(
              period,
              sum == null
                  ? Tuple2.of(1L, auction.initialBid())
                  : Tuple2.of(sum.f0 + 1, sum.f1 + auction.initialBid()));
    }

    @Override
    public void processElement(
        Bid bid, ReadOnlyContext context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      List<Bid> ofTime = waiting.get(bid.time());
      List<Bid> more = ofTime == null ? new ArrayList<>() : new ArrayList<>(ofTime);
      more.add(bid);
      waiting.put(bid.time(), more);
      context.timerService().registerEventTimeTimer(bid.time());
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      Tuple2<Long, Long> sum = context.getBroadcastState(SUMS).get(time / PERIOD_MILLIS - 1);
      for (Bid bid : waiting.get(time)) {
        if (sum == null || bid.price() > sum.f1 / sum.f0) {
          out.collect(Tuple3.of(bid.auction(), bid.bidder(), bid.price()));
        }
      }
      waiting.remove(time);
    }
  }
}
