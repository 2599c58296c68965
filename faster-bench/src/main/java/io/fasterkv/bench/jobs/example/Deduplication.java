package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;

/** Each pair of a bidder and an auction once, whatever the number of bids. */
public final class Deduplication {
  private static final Duration FORGOTTEN = Duration.ofDays(1);

  private Deduplication() {}

  /** Emits auction and bidder. */
  public static DataStream<Tuple2<Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(
            bid -> Tuple2.of(bid.auction(), bid.bidder()), Types.TUPLE(Types.LONG, Types.LONG))
        .flatMap(new First());
  }

  private static final class First extends RichFlatMapFunction<Bid, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1;

    private transient ValueState<Boolean> seen;

    @Override
    public void open(OpenContext context) {
      ValueStateDescriptor<Boolean> ofSeen = new ValueStateDescriptor<>("seen", Types.BOOLEAN);
      ofSeen.enableTimeToLive(StateTtlConfig.newBuilder(FORGOTTEN).build());
      seen = getRuntimeContext().getState(ofSeen);
    }

    @Override
    public void flatMap(Bid bid, Collector<Tuple2<Long, Long>> out) throws Exception {
      if (seen.value() == null) {
        seen.update(true);
        out.collect(Tuple2.of(bid.auction(), bid.bidder()));
      }
    }
  }
}
