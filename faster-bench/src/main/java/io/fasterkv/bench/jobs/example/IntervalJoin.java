package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.util.Collector;

/** Bids with their auctions' categories, up to twenty seconds after an auction has opened. */
public final class IntervalJoin {
  private static final Duration LENGTH = Duration.ofSeconds(20);

  private IntervalJoin() {}

  /** Emits auction, category, bidder and price. */
  public static DataStream<Tuple4<Long, Long, Long, Long>> of(
      DataStream<Auction> auctions, DataStream<Bid> bids) {
    return auctions
        .keyBy(Auction::id)
        .intervalJoin(bids.keyBy(Bid::auction))
        .between(Duration.ZERO, LENGTH)
        .process(new Both());
  }

  private static final class Both
      extends ProcessJoinFunction<Auction, Bid, Tuple4<Long, Long, Long, Long>> {
    private static final long serialVersionUID = 1;

    @Override
    public void processElement(
        Auction auction, Bid bid, Context context, Collector<Tuple4<Long, Long, Long, Long>> out) {
      out.collect(Tuple4.of(auction.id(), auction.category(), bid.bidder(), bid.price()));
    }
  }
}
