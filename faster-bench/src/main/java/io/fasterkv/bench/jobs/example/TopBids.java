package io.fasterkv.bench.jobs.example;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** The ten highest bids of each auction, as a stream of changes. */
public final class TopBids {
  private static final int PLACES = 10;
  private static final Comparator<Bid> HIGHER =
      Comparator.comparingLong(Bid::price).thenComparingLong(Bid::bidder);

  private TopBids() {}

  /** Emits whether a bid enters or leaves the top ten, and its auction, bidder and price. */
  public static DataStream<Tuple4<Boolean, Long, Long, Long>> of(DataStream<Bid> bids) {
    return bids.keyBy(Bid::auction).process(new Places());
  }

  private static final class Places
      extends KeyedProcessFunction<Long, Bid, Tuple4<Boolean, Long, Long, Long>> {
    private static final long serialVersionUID = 1;

    private transient ListState<Bid> places;

    @Override
    public void open(OpenContext context) {
      places = getRuntimeContext().getListState(new ListStateDescriptor<>("places", Bid.class));
    }

    @Override
    public void processElement(
        Bid bid, Context context, Collector<Tuple4<Boolean, Long, Long, Long>> out)
        throws Exception {
      List<Bid> taken = new ArrayList<>();
      places.get().forEach(taken::add);
      if (taken.size() < PLACES) {
        places.add(bid);
        out.collect(change(true, bid));
        return;
      }
      Bid lowest = Collections.min(taken, HIGHER);
      if (HIGHER.compare(bid, lowest) > 0) {
        taken.set(taken.indexOf(lowest), bid);
        places.update(taken);
        out.collect(change(false, lowest));
        out.collect(change(true, bid));
      }
    }

    private static Tuple4<Boolean, Long, Long, Long> change(boolean isEntering, Bid bid) {
      return Tuple4.of(isEntering, bid.auction(), bid.bidder(), bid.price());
    }
  }
}
