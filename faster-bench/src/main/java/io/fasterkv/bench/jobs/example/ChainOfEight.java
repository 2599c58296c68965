package io.fasterkv.bench.jobs.example;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Eight stateful operators, one after the other; each adds up what the one before emits. */
public final class ChainOfEight {
  private static final int OPERATORS = 8;

  private ChainOfEight() {}

  /** Emits auction and sum. */
  public static DataStream<Tuple2<Long, Long>> of(DataStream<Bid> bids) {
    DataStream<Tuple2<Long, Long>> sums =
        bids.map(bid -> Tuple2.of(bid.auction(), 1L)).returns(Types.TUPLE(Types.LONG, Types.LONG));
    for (int i = 1; i <= OPERATORS; i++) {
      sums = sums.keyBy(sum -> sum.f0).map(new RunningSum()).name("sum " + i);
    }
    return sums;
  }

  private static final class RunningSum
      extends RichMapFunction<Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1;

    private transient ValueState<Long> sum;

    @Override
    public void open(OpenContext context) {
      sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Types.LONG));
    }

    @Override
    public Tuple2<Long, Long> map(Tuple2<Long, Long> element) throws Exception {
      Long before = sum.value();
      long after = before == null ? element.f1 : before + element.f1;
      sum.update(after);
      return Tuple2.of(element.f0, after);
    }
  }
}
