package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;

/** How many bids each auction had in the last ten seconds, every two seconds. */
public final class SlidingWindows {
  private static final Duration SIZE = Duration.ofSeconds(10);
  private static final Duration SLIDE = Duration.ofSeconds(2);

  private SlidingWindows() {}

  /** Emits auction, end, count and sum of prices. */
  public static DataStream<Tuple4<Long, Long, Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(Bid::auction)
        .window(SlidingEventTimeWindows.of(SIZE, SLIDE))
        .aggregate(new CountAndSum(), new OfWindow());
  }
}
