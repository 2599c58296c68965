package io.fasterkv.bench.jobs.example;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.EventComparator;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;

/** Bidders whose bid is low and whose next bid, in the next five seconds, is high. */
public final class JumpPattern {
  private static final long LOW = 10_000;
  private static final long HIGH = 1_000_000;
  private static final Duration WITHIN = Duration.ofSeconds(5);

  private JumpPattern() {}

  /** Emits bidder and both prices. */
  public static DataStream<Tuple3<Long, Long, Long>> of(DataStream<Bid> bids) {
    Pattern<Bid, Bid> jump =
        Pattern.<Bid>begin("low", AfterMatchSkipStrategy.skipPastLastEvent())
            .where(SimpleCondition.of(bid -> bid.price() < LOW))
            .next("high")
            .where(SimpleCondition.of(bid -> bid.price() > HIGH))
            .within(WITHIN);
    return CEP.pattern(bids.keyBy(Bid::bidder), jump, new LowFirst()).process(new Jump());
  }

  /** Orders bids of the same time, so that results are the same whichever arrives first. */
  private static final class LowFirst implements EventComparator<Bid> {
    private static final long serialVersionUID = 1;

    @Override
    public int compare(Bid a, Bid b) {
      return Long.compare(a.price(), b.price());
    }
  }

  private static final class Jump extends PatternProcessFunction<Bid, Tuple3<Long, Long, Long>> {
    private static final long serialVersionUID = 1;

    @Override
    public void processMatch(
        Map<String, List<Bid>> match, Context context, Collector<Tuple3<Long, Long, Long>> out) {
      Bid low = match.getOrDefault("low", List.of()).getFirst();
      Bid high = match.getOrDefault("high", List.of()).getFirst();
      out.collect(Tuple3.of(low.bidder(), low.price(), high.price()));
    }
  }
}
