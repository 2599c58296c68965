package io.fasterkv.bench.jobs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobMeter;
import io.fasterkv.bench.job.JobStreams;
import io.fasterkv.bench.jobs.example.BidderProfiles;
import io.fasterkv.bench.jobs.example.BroadcastAverage;
import io.fasterkv.bench.jobs.example.ChainOfEight;
import io.fasterkv.bench.jobs.example.Deduplication;
import io.fasterkv.bench.jobs.example.IntervalJoin;
import io.fasterkv.bench.jobs.example.JumpPattern;
import io.fasterkv.bench.jobs.example.SessionWindows;
import io.fasterkv.bench.jobs.example.SlidingWindows;
import io.fasterkv.bench.jobs.example.TopBids;
import io.fasterkv.bench.jobs.example.TumblingWindows;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;

/** The DataStream jobs. */
enum StreamJob implements BenchJob {
  SESSION_WINDOWS(in -> SessionWindows.of(in.bids())),
  SLIDING_WINDOWS(in -> SlidingWindows.of(in.bids())),
  TUMBLING_WINDOWS(in -> TumblingWindows.of(in.bids())),
  INTERVAL_JOIN(in -> IntervalJoin.of(in.auctions(), in.bids())),
  PROCESS(in -> BidderProfiles.of(in.bids())),
  TOP_N(in -> TopBids.of(in.bids())),
  DEDUPLICATION(in -> Deduplication.of(in.bids())),
  BROADCAST(in -> BroadcastAverage.of(in.auctions(), in.bids())),
  CHAIN(in -> ChainOfEight.of(in.bids())),
  CEP(in -> JumpPattern.of(in.bids()));

  private final Function<Inputs, DataStream<? extends Tuple>> body;

  StreamJob(Function<Inputs, DataStream<? extends Tuple>> body) {
    this.body = body;
  }

  @Override
  public boolean isStateful() {
    return true;
  }

  @Override
  public boolean isRepeatable() {
    return true;
  }

  @Override
  public JobGraph graph(JobMeter meter, Configuration settings) {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(settings);
    environment.setParallelism(meter.plan().parallelism());
    // Source and first operators are one task, so no row of this type is serialized.
    DataStream<RowData> events =
        JobStreams.events(environment, meter.name(), Types.GENERIC(RowData.class));
    digest(body.apply(new Inputs(events)), meter.name());
    return environment.getStreamGraph().getJobGraph();
  }

  private <T extends Tuple> void digest(DataStream<T> rows, String run) {
    JobStreams.digest(rows, run, new TupleHash<>(this == TOP_N));
  }

  /** All names, as an error message lists them. */
  static String names() {
    return Arrays.stream(values()).map(StreamJob::toString).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
