package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;

/** How many bids each bidder makes until pausing for ten seconds. */
public final class SessionWindows {
  private static final Duration GAP = Duration.ofSeconds(10);

  private SessionWindows() {}

  /** Emits bidder, end, count and sum of prices. */
  public static DataStream<Tuple4<Long, Long, Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(Bid::bidder)
        .window(EventTimeSessionWindows.withGap(GAP))
        .aggregate(new CountAndSum(), new OfWindow());
  }
}
